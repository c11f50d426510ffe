import {
  AfterSending,
  Answered,
  AnswerTooLarge,
  BeforeSending,
  Forbidden,
  Misconfigured,
} from './exchange.errors';
import {
  broken,
  cancelled,
  misconfigured,
  notSent,
  reasonOf,
  refused,
  timedOut,
  tooLarge,
  toolError,
} from './outcomes';
import type { ToolFailure } from './types';

/**
 * Time and cancellation of one attempt. Aborts the work itself, rather than racing it: a loser of a race would go on
 * working and do its effect late (C28).
 */
export class Attempt {
  /** True from the moment the request may have reached the tool. */
  sent = false;
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout;
  private readonly hardStop: number;
  private ended: 'timeout' | 'cancelled' | undefined;
  private readonly cancel = () => this.stop('cancelled');

  /** `timeoutMs` without a sign of life; signs of life extend it, up to `hardCapMs` in all. */
  constructor(
    private readonly callers: AbortSignal,
    private readonly timeoutMs: number,
    hardCapMs: number = timeoutMs,
  ) {
    this.hardStop = performance.now() + Math.max(hardCapMs, timeoutMs);
    this.timer = setTimeout(() => this.stop('timeout'), timeoutMs);
    if (callers.aborted) this.cancel();
    else callers.addEventListener('abort', this.cancel, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The tool reported progress: its time begins anew, within the hard cap. */
  alive(): void {
    if (this.ended) return;
    clearTimeout(this.timer);
    const left = Math.min(this.timeoutMs, this.hardStop - performance.now());
    this.timer = setTimeout(() => this.stop('timeout'), Math.max(0, left));
  }

  /** Waits for shared work that must not be aborted; leaves it alone when the attempt stops. Nothing is sent by it. */
  async unlessStopped<T>(work: Promise<T>): Promise<T> {
    let leave = () => {};
    const stopped = new Promise<never>((_, reject) => {
      leave = () => reject(new BeforeSending('aborted'));
      if (this.signal.aborted) leave();
      this.signal.addEventListener('abort', leave, { once: true });
    });
    try {
      return await Promise.race([work, stopped]);
    } finally {
      this.signal.removeEventListener('abort', leave);
    }
  }

  /** What an error of the work means, with the reason for an abort put first. */
  failure(error: unknown): ToolFailure {
    if (error instanceof Misconfigured)
      return misconfigured(`${error.message}; an administrator must correct this tool.`);
    if (error instanceof Answered) return toolError(`Error: ${error.message}`, error.transient);
    if (error instanceof AnswerTooLarge) return tooLarge('', error.limitBytes);
    if (error instanceof AfterSending) this.sent = true;
    if (error instanceof BeforeSending) this.sent = false;
    if (this.ended === 'cancelled') return cancelled(this.sent);
    if (this.ended === 'timeout')
      return this.sent
        ? timedOut(this.timeoutMs)
        : notSent(`Error: the tool could not be reached within ${this.timeoutMs / 1_000} s.`);
    if (error instanceof Forbidden) return refused(`Error: nothing was sent: ${error.message}.`);
    if (error instanceof BeforeSending)
      return notSent(`Error: the tool could not be reached: ${error.message}.`);
    return broken(`Error: the connection to the tool broke: ${reasonOf(error)}.`);
  }

  end(): void {
    clearTimeout(this.timer);
    this.callers.removeEventListener('abort', this.cancel);
  }

  private stop(reason: 'timeout' | 'cancelled'): void {
    this.ended ??= reason;
    this.controller.abort(new DOMException(reason, 'AbortError'));
  }
}
