import type { NewEvent } from '@runyard/contracts';
import type { NewRunEvent } from '../domain/decision';
import { fold } from '../domain/evolve';
import { NO_MATERIAL } from '../domain/material';
import { dated } from '../domain/next';
import { NO_RUN } from '../domain/run';
import type { OperationsQueries } from '../projections/operations.queries';
import { queued, skipped } from '../projections/sample-events';
import type { RunLog } from './run-log.adapter';
import { Slots } from './slots.process';

const TALK = 'conversation:org:talk';
const FAILED: NewRunEvent = {
  type: 'RunFailed',
  data: { termination: 'Error', reason: 'stale', error: { code: 'stale', text: '' } },
};

/** Slots of a conversation whose row names `last`, which took the place of `turn`. */
function slotsOf(last: readonly NewEvent[]) {
  const row: { holder: string | null; previous: string | null } = { holder: 'last', previous: 'turn' };
  const logs: Record<string, readonly NewEvent[]> = { last, turn: [queued('turn'), FAILED] };
  const operations = {
    claimSlot: () => {
      row.holder ??= 'next';
      const claimed = { outcome: 'claimed', previousRunId: row.previous };
      return Promise.resolve(
        row.holder === 'next' ? claimed : { outcome: 'held', slotKey: TALK, holder: row.holder },
      );
    },
    replaceHolder: (_key: string, holder: string, runId: string) =>
      Promise.resolve(Object.assign(row, { holder: runId, previous: holder })),
    giveBack: () => Promise.resolve(Object.assign(row, { holder: row.previous, previous: null })),
  };
  const glance = (_org: string, runId: string) => {
    const events = (logs[runId] ?? []) as NewRunEvent[];
    return Promise.resolve({
      run: fold(
        NO_RUN,
        events.map((event) => dated(event, 1)),
        NO_MATERIAL,
      ),
      sequence: events.length,
    });
  };
  return new Slots(
    operations as unknown as OperationsQueries,
    { glance, erased: async () => undefined } as unknown as RunLog,
  );
}

const claim = (slots: Slots) => slots.claim('org', 'next', 'digest', { agent: null, conversation: TALK });

describe('the turn before, as a conversation names it', () => {
  it('is the last one that ran, however it ended', async () => {
    expect(await claim(slotsOf([queued('last'), FAILED]))).toEqual({
      outcome: 'claimed',
      previousRunId: 'last',
    });
  });

  it('is not one that was skipped after it had claimed the conversation, which would hide all turns before it', async () => {
    expect(await claim(slotsOf([skipped('last')]))).toEqual({ outcome: 'claimed', previousRunId: 'turn' });
  });

  it('is not a request that was fenced', async () => {
    expect(await claim(slotsOf([FAILED]))).toEqual({ outcome: 'claimed', previousRunId: 'turn' });
  });
});
