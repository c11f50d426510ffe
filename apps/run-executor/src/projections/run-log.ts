import { currentVersion, eventType, subjectOf } from '@runyard/contracts';
import type { Context, NewEvent } from '@runyard/contracts';
import type { ProjectedCommit } from '@runyard/persistence';

export const ORG = '11111111-1111-4111-8111-111111111111';
export const OTHER_ORG = '22222222-2222-4222-8222-222222222222';
export const USER = '33333333-3333-4333-8333-333333333333';
export const OTHER_USER = '44444444-4444-4444-8444-444444444444';

/** When the first commit of a log was made, epoch ms. */
export const EPOCH = Date.UTC(2026, 0, 5, 9);

const encoder = new TextEncoder();

/** Writes commits as they lie in the stream RUNS, with one sequence and one clock for all: what specs and benches project. */
export class RunLog {
  readonly commits: ProjectedCommit[] = [];
  time: number;

  constructor(
    private sequence = 0,
    start = EPOCH,
  ) {
    this.time = start;
  }

  /** Appends the events of a run as one commit, `after` ms later than the last one. */
  run(id: string, events: readonly NewEvent[], after = 10, org = ORG): ProjectedCommit {
    return this.append('runs', org, id, events, after);
  }

  conversation(id: string, events: readonly NewEvent[], after = 10, org = ORG): ProjectedCommit {
    return this.append('conversations', org, id, events, after);
  }

  erasures(events: readonly NewEvent[], after = 10, org = ORG): ProjectedCommit {
    return this.append('erasures', org, 'runs', events, after);
  }

  private append(
    context: Context,
    org: string,
    id: string,
    events: readonly NewEvent[],
    after: number,
  ): ProjectedCommit {
    this.time += after;
    this.sequence += 1;
    const commitId = `commit${this.sequence}`;
    const time = new Date(this.time).toISOString();
    const batch = events.map(({ type, data }, index) => ({
      specversion: '1.0',
      id: `${commitId}.${index}`,
      source: 'run-executor',
      type: type.startsWith('runyard.') ? type : eventType(type, currentVersion(type)),
      subject: id,
      time,
      datacontenttype: 'application/json',
      org,
      actor: 'system:executor',
      data,
    }));
    const commit = {
      stream: 'RUNS',
      subject: subjectOf(context, org, id),
      sequence: this.sequence,
      commitId,
      storedAt: this.time,
      headers: {},
      body: encoder.encode(JSON.stringify(batch)),
    };
    this.commits.push(commit);
    return commit;
  }
}
