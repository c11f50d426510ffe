import { RUN_EVENTS, subjectOf } from '@runyard/contracts';
import type { Caller, RunEvent } from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import type { EventLog } from '@runyard/event-log';
import type { Logger, RpcClient } from '@runyard/service';
import type { UnbornQueries, UnbornReservation } from '../projections/unborn.queries';
import { SOURCE } from './budget-log.adapter';
import type { Ledger } from './ledger.process';

/** A reservation whose run has no log after this long belongs to a request that was lost (P2.6). */
export const UNBORN_MS = 60_000;
const AT_ONCE = 64;

interface UnbornPorts {
  queries: UnbornQueries;
  log: EventLog;
  rpc: RpcClient;
  ledger: Ledger;
  logger: Logger;
}

/**
 * Gives back what is held for runs that never came to be. Rows only say where to look; the run's log says what is true,
 * and one that is empty is fenced by the executor before anything is given back: nothing may start on a reservation
 * that is gone.
 */
export class UnbornReservations {
  constructor(private readonly ports: UnbornPorts) {}

  /** How many were looked at. */
  async pass(olderThanMs = UNBORN_MS): Promise<number> {
    const found = await this.ports.queries.find(olderThanMs, AT_ONCE);
    for (const reservation of found)
      await this.judge(reservation).catch((error: unknown) => {
        const facts = { err: error, org: reservation.org, run: reservation.runId };
        this.ports.logger.warn(facts, 'a reservation without a run could not be looked after');
      });
    return found.length;
  }

  private async judge(found: UnbornReservation): Promise<void> {
    let events = await this.eventsOf(found);
    if (events.length === 0) {
      await this.ports.rpc.call('run-executor', 'runs.fence', callerOf(found.org), { run_id: found.runId });
      events = await this.eventsOf(found);
    }
    const [first] = events;
    if (first?.type !== 'RunQueued') return first && this.ports.ledger.release(found, 'lost');
    const end = events.find(
      (event) => event.type === 'RunSucceeded' || event.type === 'RunFailed' || event.type === 'RunCancelled',
    );
    // Unfinished: the reaction has not come to its birth yet.
    if (!end || !('spend' in end.data)) return;
    const { own, children, lines } = end.data.spend ?? { own: 0, children: 0, lines: [] };
    const { agentId } = first.data;
    const { runId } = found;
    await this.ports.ledger.settle(found, {
      agentId,
      tokens: own + children,
      own,
      children,
      endedAt: end.time,
      lines: lines.map((line) => ({ ...line, runId, agentId })),
    });
  }

  private async eventsOf({ org, runId }: UnbornReservation): Promise<RunEvent[]> {
    const commits = await this.ports.log.read(subjectOf('runs', org, runId));
    // The table of known events and the upcasters vouch for the type; unknown ones do not matter here.
    return commits.flatMap((commit) => decodeEvents(commit, RUN_EVENTS).events as RunEvent[]);
  }
}

const callerOf = (org: string): Caller => ({ org, actor: `system:${SOURCE}`, userId: null, roles: [] });
