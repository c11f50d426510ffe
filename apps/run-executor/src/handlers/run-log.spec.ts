import { currentVersion, eventType } from '@runyard/contracts';
import type { NewEvent } from '@runyard/contracts';
import type { Commit, EventLog } from '@runyard/event-log';
import { queued } from '../projections/sample-events';
import { RunLog } from './run-log.adapter';
import { Texts } from './texts.adapter';

const ORG = '11111111-1111-4111-8111-111111111111';
const CANCELLED: NewEvent = { type: 'RunCancelled', data: { reason: 'user' } };
const DELETED: NewEvent = { type: 'RunDeleted', data: { agentId: 'librarian' } };

/** Runs over a log in memory, one commit an event. */
function runsOver(logs: Record<string, NewEvent[]>, erased: Record<string, string | null> = {}): RunLog {
  const idOf = (subject: string) => subject.split('.').at(-1) ?? '';
  const commitsOf = (subject: string) =>
    (logs[idOf(subject)] ?? []).map(({ type, data }, index) => ({
      subject,
      sequence: index + 1,
      events: [
        {
          type: eventType(type, currentVersion(type)),
          data,
          time: '2026-01-05T09:00:00.000Z',
          actor: 'system:x',
        },
      ],
    })) as unknown as Commit[];
  const log = {
    read: (subject: string) => Promise.resolve(commitsOf(subject)),
    lastSequence: (subject: string) => Promise.resolve(commitsOf(subject).length),
  } as unknown as EventLog;
  const blobs = { put: () => Promise.reject(new Error('no blobs')), get: () => Promise.resolve(undefined) };
  return new RunLog(log, new Texts(blobs), 'spec', async (_org, runId) =>
    runId in erased ? { previousRunId: erased[runId] ?? null } : undefined,
  );
}

const turn = (id: string, previousRunId: string | null): NewEvent[] => [
  queued(id, { previousRunId, input: { text: id }, conversationId: 'talk' }),
  CANCELLED,
];

const textsOf = async (runs: RunLog, runId: string): Promise<unknown[]> =>
  (await runs.history(ORG, runId)).map((message) => ('text' in message ? message.text : null));

describe('what a turn sees of those before it', () => {
  it('is not a turn that was deleted, but what came before that', async () => {
    const logs = {
      run_one: turn('run_one', null),
      run_two: turn('run_two', 'run_one'),
      run_three: turn('run_three', 'run_two'),
    };
    logs.run_two.push(DELETED);
    expect(await textsOf(runsOver(logs), 'run_two')).toEqual(['run_one']);
    expect(await textsOf(runsOver(logs), 'run_three')).toEqual(['run_one', 'run_three']);
  });

  it('is not a turn whose log was overwritten, but what came before that', async () => {
    const logs = { run_one: turn('run_one', null), run_four: turn('run_four', 'run_three') };
    const erased = { run_two: 'run_one', run_three: 'run_two' };
    expect(await textsOf(runsOver(logs, erased), 'run_four')).toEqual(['run_one', 'run_four']);
    expect(await textsOf(runsOver(logs), 'run_four')).toEqual(['run_four']);
  });

  it('is not taken from memory where the turn was deleted since', async () => {
    const logs = { run_one: turn('run_one', null), run_two: turn('run_two', 'run_one') };
    const runs = runsOver(logs);
    expect(await textsOf(runs, 'run_two')).toEqual(['run_one', 'run_two']);
    logs.run_two.push(DELETED);
    expect(await textsOf(runs, 'run_two')).toEqual(['run_one']);
  });
});
