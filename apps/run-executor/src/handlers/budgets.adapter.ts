import type { Caller, ReservationChanged, ReserveAnswer } from '@runyard/contracts';
import type { RpcClient } from '@runyard/service';

/** A root run and whose budget it spends. */
export interface Spender {
  org: string;
  runId: string;
  ownerId: string;
}

/** What the budget ledger is asked. All of it is idempotent by run id; `unavailable` says that it must be asked again. */
export interface Budgets {
  /** Less than `smallest` is nothing. */
  reserve(spender: Spender, tokens: number, smallest: number): Promise<ReserveAnswer>;
  /**
   * Makes what a live run holds `tokens`: more as far as the cap leaves it, less always. `at`: the place in the run's log
   * that this follows from, since answers of several processes may overtake each other.
   */
  change(spender: Spender, tokens: number, reason: Change, at: number): Promise<ReserveAnswer>;
  release(spender: Spender): Promise<void>;
}

/** Why a reservation changes (P5.6): bounds were raised, the run waits for people, it goes on. */
export type Change = ReservationChanged['data']['reason'];

/** Long enough for a ledger that is being started anew; a request waits all the same. */
const TIMEOUT_MS = 10_000;

const callerOf = (org: string): Caller => ({
  org,
  actor: 'system:run-executor',
  userId: null,
  roles: [],
});
const refOf = ({ runId, ownerId }: Spender) => ({ run_id: runId, owner_id: ownerId });

/** The ledger, asked over the bus. */
export const ledgerBudgets = (rpc: RpcClient): Budgets => {
  const ask = <Answer>(method: string, spender: Spender, input: object): Promise<Answer> =>
    rpc.call('budget-ledger', method, callerOf(spender.org), input, { timeoutMs: TIMEOUT_MS });
  return {
    reserve: (spender, tokens, smallest) =>
      ask('budgets.reserve', spender, { ...refOf(spender), tokens, smallest }),
    change: (spender, tokens, reason, at) =>
      ask('budgets.change', spender, { ...refOf(spender), tokens, reason, at }),
    release: (spender) => ask('budgets.release', spender, refOf(spender)),
  };
};
