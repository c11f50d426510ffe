/** Limits of one exchange with a provider, in milliseconds. */
export interface ModelTimeouts {
  /** From sending to the head of the answer. */
  headMs: number;
  /** Silence in the middle of an answer. */
  idleMs: number;
}

export const DEFAULT_TIMEOUTS: ModelTimeouts = {
  // Endpoints that do not stream their head at once think first; the slowest models take minutes.
  headMs: 180_000,
  // Providers send pings every few seconds; a stream that is silent for longer is dead, and the run's deadline is burning.
  idleMs: 60_000,
};

/** Longest wait for the rest of a complete answer's body, in milliseconds; a connection read to its end is used again. */
const DRAIN_MS = 1_000;

/** Largest answer in bytes; a provider that never stops must not take the executor's memory. */
const LARGEST_ANSWER = 64 * 1024 * 1024;

export class AnswerTooLarge extends Error {}

/**
 * One HTTP exchange: the provider package writes and sends the request through `fetch`, and gets an empty answer; the
 * real one stays here to be read byte by byte, because the package loses parts of it (README). Closing frees the socket.
 */
export class ProviderExchange {
  private readonly controller = new AbortController();
  private readonly onAbort = (): void => this.controller.abort();
  private timer: NodeJS.Timeout | undefined;
  private reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  /** Real answer; null until its head is there. */
  response: Response | null = null;
  /** Why there is none. */
  connectionError: unknown = null;
  timedOut = false;

  constructor(
    private readonly send: typeof globalThis.fetch,
    private readonly signal: AbortSignal,
    private readonly timeouts: ModelTimeouts,
  ) {
    signal.addEventListener('abort', this.onAbort, { once: true });
    if (signal.aborted) this.controller.abort();
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    this.expire(this.timeouts.headMs);
    try {
      // Redirects are refused: they would carry the credential to another place.
      this.response = await this.send(input, { ...init, redirect: 'manual', signal: this.controller.signal });
    } catch (error) {
      this.connectionError = error;
      throw error;
    }
    return new Response('', { headers: { 'content-type': 'text/event-stream' } });
  };

  /** The answer's bytes as they arrive; throws when the connection breaks, is silent for too long or is aborted. */
  async *bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = this.response?.body?.getReader();
    if (!reader) return;
    this.reader = reader;
    let received = 0;
    this.expire(this.timeouts.idleMs);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      this.timer?.refresh();
      received += value.byteLength;
      if (received > LARGEST_ANSWER)
        throw new AnswerTooLarge(`The answer is larger than ${LARGEST_ANSWER} bytes.`);
      yield value;
    }
  }

  /** The first bytes of an error's body as text; what could be read counts, however it ends. */
  async errorBody(limit = 65_536): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    try {
      for await (const bytes of this.bytes()) {
        text += decoder.decode(bytes, { stream: true });
        if (text.length > limit) break;
      }
    } catch {
      // The status says enough.
    }
    return text;
  }

  /** Ends the exchange, also in the middle of an answer. A complete one keeps its connection for the next. */
  close(complete: boolean): void {
    clearTimeout(this.timer);
    this.signal.removeEventListener('abort', this.onAbort);
    if (complete && !this.timedOut) void this.drain();
    else this.controller.abort();
  }

  private async drain(): Promise<void> {
    this.expire(DRAIN_MS);
    try {
      while (this.reader && !(await this.reader.read()).done);
    } catch {
      // The answer is complete; its connection is simply not used again.
    } finally {
      clearTimeout(this.timer);
      this.controller.abort();
    }
  }

  private expire(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timedOut = true;
      this.controller.abort();
    }, ms);
  }
}
