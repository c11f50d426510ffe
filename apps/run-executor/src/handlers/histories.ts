import type { ChatMessage } from '../domain/dialog';
import type { EndedRun } from '../domain/run';
import { messagesOf } from '../domain/transcript';

/** Dialogs that are kept, and how large they may be together in bytes; the oldest make room. */
const MOST = 200;
const MOST_BYTES = 64 * 1024 * 1024;

interface Kept {
  messages: readonly ChatMessage[];
  bytes: number;
  sequence: number;
}

/** Dialogs of ended runs at hand for the next turn of their conversation, which goes on from its last turn only. */
export class Histories {
  private readonly kept = new Map<string, Kept>();
  private bytes = 0;

  /** The dialog up to the end of a run, if the run's last commit is still the one that it was kept with. */
  get(runId: string, sequence: number): readonly ChatMessage[] | undefined {
    const kept = this.kept.get(runId);
    if (!kept || kept.sequence === sequence) return kept?.messages;
    this.forget(runId);
    return undefined;
  }

  has(runId: string): boolean {
    return this.kept.has(runId);
  }

  keep(runId: string, sequence: number, { transcript, previousRunId }: EndedRun): void {
    this.forget(runId);
    if (previousRunId !== null) this.forget(previousRunId);
    this.kept.set(runId, { messages: messagesOf(transcript), bytes: transcript.bytes, sequence });
    this.bytes += transcript.bytes;
    for (const oldest of this.kept.keys()) {
      if (oldest === runId || (this.kept.size <= MOST && this.bytes <= MOST_BYTES)) break;
      this.forget(oldest);
    }
  }

  private forget(runId: string): void {
    this.bytes -= this.kept.get(runId)?.bytes ?? 0;
    this.kept.delete(runId);
  }
}
