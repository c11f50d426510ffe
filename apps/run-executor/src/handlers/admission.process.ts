import type { DefinitionSnapshot, RunQueued } from '@runyard/contracts';
import { firstCallNeeds } from '../domain/bounds';
import { dated, foldNew } from '../domain/next';
import { isLive, NO_RUN } from '../domain/run';
import type { Material } from '../domain/material';
import type { Budgets, Spender } from './budgets.adapter';
import { overheadOf } from './judgement.adapter';
import type { LoadedRun, RunLog } from './run-log.adapter';

type Queued = Pick<RunQueued, 'type' | 'data'>;

/** What the ledger makes of a run that is about to be queued. */
export type Admission =
  | { outcome: 'granted'; queued: Queued; material: Material }
  | { outcome: 'refused' }
  /** The run was settled or given back before; its log says what it came to. */
  | { outcome: 'closed' };

/**
 * Reserves what a root run may spend before it is queued (P2.4). Nothing starts unreserved: where the ledger is away this
 * throws `unavailable`, and the request is taken in later.
 */
export class Admissions {
  constructor(
    private readonly runs: RunLog,
    private readonly budgets: Budgets,
  ) {}

  /** `wished` holds the whole token budget as its grant. */
  async admit(before: LoadedRun, wished: Queued, definition: DefinitionSnapshot): Promise<Admission> {
    const { org, runId } = before;
    const material = await this.runs.materialFor(org, runId, [dated(wished, 0)]);
    const run = foldNew(NO_RUN, [wished], 0, material);
    const tokens = wished.data.grantTokens;
    const smallest = isLive(run)
      ? firstCallNeeds(run, { models: definition.models, overheadBytes: overheadOf(definition) })
      : tokens;
    const answer = await this.budgets.reserve(spenderOf(before, wished), tokens, smallest);
    if (answer.outcome !== 'granted') return { outcome: answer.outcome };
    const weekly = answer.weekly_left === null ? {} : { weeklyTokens: answer.weekly_left };
    const capped = answer.cut ? { weeklyCapped: true as const } : {};
    const data = { ...wished.data, grantTokens: answer.tokens, ...weekly, ...capped };
    return { outcome: 'granted', queued: { type: 'RunQueued', data }, material };
  }

  /** Gives back what was reserved for a run that came to nothing; what is missed here the ledger's sweep finds. */
  async giveBack(before: LoadedRun, wished: Queued): Promise<void> {
    await this.budgets.release(spenderOf(before, wished)).catch(() => undefined);
  }
}

/** Budgets sum by the person on whose behalf a run goes on. */
const spenderOf = ({ org, runId }: LoadedRun, { data }: Queued): Spender => ({
  org,
  runId,
  ownerId: data.userId ?? data.ownerId,
});
