import { LogUnavailable, VersionConflict } from '@runyard/event-log';
import type { Appended, EventLog, NewCommit } from '@runyard/event-log';
import { Metrics } from './metrics';
import { ObservedEventLog } from './observed-log.adapter';

const COMMIT: NewCommit = {
  subject: 'runyard.agents.1.o.a',
  expected: 0,
  events: [],
  meta: { actor: 'system:spec', source: 'spec' },
};
const APPENDED: Appended = { stream: 'AGENTS', sequence: 1, commitId: 'c', time: 0, recovered: false };

describe('the observed log', () => {
  it('C83 shows that appends are not acknowledged, as on a full disk, until one is (decocms/studio#2993)', async () => {
    const answers: (Appended | Error)[] = [
      new LogUnavailable('no space left'),
      new VersionConflict('s', 1, 2),
      APPENDED,
    ];
    const append = async () => {
      const answer = answers.shift();
      if (!answer || answer instanceof Error) throw answer;
      return answer;
    };
    const metrics = new Metrics('spec');
    const log = new ObservedEventLog({ append } as Partial<EventLog> as EventLog, metrics);
    expect(log.fault()).toBeNull();
    await expect(log.append(COMMIT)).rejects.toThrow(LogUnavailable);
    expect(log.fault()).toMatchObject({ code: 'append_failing' });
    await expect(log.append(COMMIT)).rejects.toThrow(VersionConflict);
    expect(log.fault()).toMatchObject({ code: 'append_failing' });
    expect(await log.append(COMMIT)).toBe(APPENDED);
    expect(log.fault()).toBeNull();
    const page = await metrics.registry.metrics();
    for (const outcome of ['failed', 'conflict', 'ok'])
      expect(page).toMatch(new RegExp(`runyard_append_seconds_count.*outcome="${outcome}".* 1\n`));
  });
});
