import { setTimeout as wait } from 'node:timers/promises';
import type { Actor, RunEvent, RunQueued } from '@runyard/contracts';
import { subjectOf } from '@runyard/contracts';
import { CommitTooLarge, LogUnavailable } from '@runyard/event-log';
import type { Appended, EventLog } from '@runyard/event-log';
import { currentContext } from '@runyard/service';
import type { NewRunEvent } from '../domain/decision';
import type { ChatMessage } from '../domain/dialog';
import { fold } from '../domain/evolve';
import type { Material } from '../domain/material';
import { NO_MATERIAL } from '../domain/material';
import { NO_RUN } from '../domain/run';
import type { Run } from '../domain/run';
import { messagesOf } from '../domain/transcript';
import { Histories } from './histories';
import { eventsOf, largeTexts } from './run-commits';
import { LOG_RETRY_MS, untilAnswered } from './log-patience';
import type { Texts } from './texts.adapter';

/** A run as its log tells it, up to `sequence`. */
export interface LoadedRun {
  org: string;
  runId: string;
  subject: string;
  run: Run;
  /** Sequence of the run's last commit: the expectation of the next append. */
  sequence: number;
  material: Material;
  /** Trace that the run was asked for in. */
  traceparent?: string;
  /** Monotonic time in ms at which the log was last asked or written to: `run` was current then, or later (P4.2). */
  freshAt: number;
}

type Erased = (org: string, runId: string) => Promise<{ previousRunId: string | null } | undefined>;

/** Ahead of call ids in a dialog, so that the ids of a conversation's runs differ. */
export const callPrefixOf = (runId: string): string => `${runId.slice(4, 12)}-`;

/** Reads runs from the log and writes to it; the only place that folds run events. */
export class RunLog {
  private readonly histories = new Histories();

  constructor(
    private readonly log: EventLog,
    private readonly texts: Texts,
    private readonly source: string,
    /** What is known of a run whose log was overwritten. */
    readonly erased: Erased = async () => undefined,
  ) {}

  subject(org: string, runId: string): string {
    return subjectOf('runs', org, runId);
  }

  /** Where a run stands, without its dialog's large texts and history: enough for controls and intake. */
  async glance(org: string, runId: string): Promise<LoadedRun> {
    const subject = this.subject(org, runId);
    const freshAt = performance.now();
    const commits = await this.log.read(subject);
    const run = fold(NO_RUN, eventsOf(commits), NO_MATERIAL);
    const sequence = commits.at(-1)?.sequence ?? 0;
    return { org, runId, subject, run, sequence, material: NO_MATERIAL, freshAt };
  }

  /** Whether something in a run's log was appended as a part of `causationId`. */
  async isCausedBy(org: string, runId: string, causationId: string): Promise<boolean> {
    const commits = await this.log.read(this.subject(org, runId));
    return commits.some(({ events }) => events.some((event) => event.causationid === causationId));
  }

  /** A run with everything that driving it needs. */
  async load(org: string, runId: string): Promise<LoadedRun> {
    return (await this.loadWhole(org, runId)).loaded;
  }

  /** The same with its events, for runs that begin with it. */
  async loadWhole(org: string, runId: string) {
    const subject = this.subject(org, runId);
    const freshAt = performance.now();
    const commits = await this.log.read(subject);
    const events = eventsOf(commits);
    const material = await this.materialFor(org, runId, events);
    const run = fold(NO_RUN, events, material);
    const traceparent = commits[0]?.events[0]?.traceparent;
    const sequence = commits.at(-1)?.sequence ?? 0;
    const loaded: LoadedRun = { org, runId, subject, run, sequence, material, freshAt, traceparent };
    return { loaded, events, run, material };
  }

  /** Material of a run that is about to be born. */
  async materialFor(org: string, runId: string, events: readonly RunEvent[]): Promise<Material> {
    const texts = await this.texts.load(org, events.flatMap(largeTexts));
    const queued = events.find((event): event is RunQueued => event.type === 'RunQueued');
    return {
      text: (digest) => texts.get(digest) ?? this.texts.atHand(digest),
      // What a run takes over holds what was said before in its conversation.
      history: queued?.data.takenOver ? [] : await this.history(org, queued?.data.previousRunId ?? null),
      callPrefix: callPrefixOf(runId),
    };
  }

  /** What others appended since `loaded`; waits for a log that does not answer. */
  async since(
    loaded: Pick<LoadedRun, 'subject' | 'sequence' | 'freshAt'>,
  ): Promise<{ events: RunEvent[]; sequence: number }> {
    const commits = await untilAnswered(() => {
      loaded.freshAt = performance.now();
      return this.log.read(loaded.subject, loaded.sequence);
    });
    return { events: eventsOf(commits), sequence: commits.at(-1)?.sequence ?? loaded.sequence };
  }

  async lastSequence(loaded: LoadedRun): Promise<number> {
    return this.log.lastSequence(loaded.subject);
  }

  /**
   * Appends under the loaded run's expectation; throws VersionConflict when somebody was faster. While the log does not
   * answer it goes on with the same commit: recorded facts are never dropped (P1.4), and the same commit id finds itself.
   * `at`: the time as of which the events were decided (epoch ms), so that they carry the very time of that decision.
   */
  async append(
    loaded: LoadedRun,
    events: readonly NewRunEvent[],
    actor: Actor,
    at?: number,
  ): Promise<Appended> {
    const notBefore = loaded.run.situation === 'none' ? 0 : loaded.run.lastEventAt;
    const { subject, sequence: expected, runId } = loaded;
    const { traceparent, causationId } = currentContext() ?? {};
    const meta = { actor, source: this.source, correlationId: runId, traceparent, causationId };
    let commitId: string | undefined;
    for (;;) {
      try {
        loaded.freshAt = performance.now();
        return await this.log.append({ subject, expected, events, notBefore, at, meta, commitId });
      } catch (error) {
        if (!(error instanceof LogUnavailable)) throw error;
        commitId = error.commitId;
        await wait(LOG_RETRY_MS);
      }
    }
  }

  /**
   * Appends as many of the events as one commit can hold, at least the first `together`; says how many. Any beginning of
   * what was decided is a state from which the rest is decided again.
   */
  async appendWhatFits(
    loaded: LoadedRun,
    events: readonly NewRunEvent[],
    actor: Actor,
    { together = 1, at }: { together?: number; at?: number } = {},
  ): Promise<Appended & { count: number }> {
    for (let count = events.length; ; count = Math.max(together, Math.floor(count / 2))) {
      try {
        return { ...(await this.append(loaded, events.slice(0, count), actor, at)), count };
      } catch (error) {
        if (!(error instanceof CommitTooLarge) || count <= together) throw error;
      }
    }
  }

  /** The dialog up to the end of a run, for the next turn of its conversation; a turn that was deleted is passed over. */
  async history(org: string, runId: string | null): Promise<readonly ChatMessage[]> {
    if (runId === null) return [];
    // Whatever is appended to a run after its end deletes it.
    const sequence = this.histories.has(runId) ? await this.log.lastSequence(this.subject(org, runId)) : 0;
    const kept = this.histories.get(runId, sequence);
    if (kept) return kept;
    const loaded = await this.load(org, runId);
    const { run } = loaded;
    if (run.situation === 'none')
      return this.history(org, (await this.erased(org, runId))?.previousRunId ?? null);
    if (run.situation !== 'ended') return [];
    if (run.deleted) return this.history(org, run.previousRunId);
    this.histories.keep(runId, loaded.sequence, run);
    return messagesOf(run.transcript);
  }

  /** Keeps the dialog of a run that has just ended; a conversation goes on where it was, mostly in the same process. */
  keepHistory({ run, runId, sequence }: LoadedRun): void {
    if (run.situation === 'ended' && run.identity?.conversationId) this.histories.keep(runId, sequence, run);
  }
}
