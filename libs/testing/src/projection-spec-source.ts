import { randomUUID } from 'node:crypto';
import {
  COMMIT_CONTENT_TYPE,
  CONTEXT_STREAMS,
  currentVersion,
  eventType,
  subjectOf,
} from '@runyard/contracts';
import type { Actor, CloudEvent, Context } from '@runyard/contracts';
import type { CommitSource, ProjectedCommit } from '@runyard/persistence';

/** Events that were decided together, as a spec writes them. */
export interface SpecCommit {
  context: Context;
  org: string;
  /** Id of the aggregate. */
  id: string;
  events: readonly { type: string; data: unknown }[];
  /** Epoch ms; default: one second after the commit before. */
  time?: number;
  actor?: Actor;
}

/** Fixed, so that specs do not depend on the day they run. */
const FIRST_TIME = Date.UTC(2026, 0, 5, 9);

/** A commit as it would lie in its stream at `sequence`. */
export function projectedCommit(commit: SpecCommit, sequence: number): ProjectedCommit {
  const commitId = randomUUID();
  const time = commit.time ?? FIRST_TIME + sequence * 1_000;
  const events = commit.events.map((event, index): CloudEvent<unknown> => ({
    specversion: '1.0',
    id: `${commitId}.${index}`,
    source: 'spec',
    type: eventType(event.type, currentVersion(event.type)),
    subject: commit.id,
    time: new Date(time).toISOString(),
    datacontenttype: 'application/json',
    org: commit.org,
    actor: commit.actor ?? 'system:spec',
    data: event.data,
  }));
  return {
    stream: CONTEXT_STREAMS[commit.context],
    subject: subjectOf(commit.context, commit.org, commit.id),
    sequence,
    commitId,
    storedAt: time,
    headers: { 'Nats-Msg-Id': commitId, 'content-type': COMMIT_CONTENT_TYPE },
    body: Buffer.from(JSON.stringify(events)),
  };
}

/** A stream in memory for projections: appended to by the spec, read as often as wanted, with the promises of the real one. */
export class MemorySource implements CommitSource {
  private readonly commits: ProjectedCommit[] = [];
  private wakes: (() => void)[] = [];
  /** Set to another value to play a stream that was created anew. */
  incarnation: string = randomUUID();
  firstSequence = 1;
  /** How often each commit is delivered, as a redelivering server would. */
  deliveries = 1;

  get lastSequence(): number {
    return this.commits.at(-1)?.sequence ?? 0;
  }

  append(...commits: readonly ProjectedCommit[]): void {
    this.commits.push(...commits);
    for (const wake of this.wakes.splice(0)) wake();
  }

  async state(): Promise<{ firstSequence: number; lastSequence: number; incarnation: string }> {
    return {
      firstSequence: this.firstSequence,
      lastSequence: this.lastSequence,
      incarnation: this.incarnation,
    };
  }

  async *read(
    after: number,
    signal: AbortSignal,
    until = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<ProjectedCommit> {
    let index = this.commits.findIndex(({ sequence }) => sequence > after);
    if (index < 0) index = this.commits.length;
    while (!signal.aborted) {
      const commit = this.commits[index];
      if (!commit && this.lastSequence >= until) return;
      if (!commit) {
        await this.appended(signal);
        continue;
      }
      if (commit.sequence > until) return;
      index++;
      for (let time = 0; time < this.deliveries; time++) yield commit;
    }
  }

  private appended(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => (signal.removeEventListener('abort', wake), resolve());
      this.wakes.push(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}
