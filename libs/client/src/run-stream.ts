import type { RunEvent } from '@runyard/contracts';
import { EventStream } from './event-stream';
import { NoAnswer, Refused, refusalOf } from './failures';
import { pathOf } from './route-call';
import { pause, waitBefore } from './retry';
import type { Transport } from './transport';

interface Frame {
  run_id: string;
  /** RFC 3339. */
  time: string;
  /** Place in the log; pass it as `at_least` to a read. */
  position: string;
  actor: string;
  /** Place in the stream; pass it as `after` to go on from here. */
  cursor: string;
}
type Framed<E extends RunEvent> = E extends RunEvent ? Frame & { type: E['type']; data: E['data'] } : never;

/** An event of a run. A newer server may send types that are not listed: skip what you do not know. */
export type RunStreamEvent = Framed<RunEvent>;

export interface StreamOptions {
  /** Cursor of the last event seen; default: from the run's first one. */
  after?: string;
  signal?: AbortSignal;
  /** Connections in a row that bring nothing before the stream gives up. Default 10, which takes some minutes. */
  attempts?: number;
}

/** The server pings every 15 s: a connection that is silent for longer than this is dead, whatever the socket says. */
const SILENCE_MS = 45_000;

/**
 * The events of a run from its first one (or a cursor) to its end, each once, over any number of connections. Ends with the
 * run. Throws Refused for what reconnecting does not cure, NoAnswer after too many vain attempts, or the signal's reason.
 */
export async function* runStream(
  transport: Transport,
  runId: string,
  { after, signal, attempts = 10 }: StreamOptions = {},
): AsyncGenerator<RunStreamEvent, void, undefined> {
  let cursor = after;
  for (let vain = 1; ; vain++) {
    const connection = new Connection(transport, runId, cursor, signal);
    try {
      for await (const event of connection.events()) {
        cursor = event.cursor;
        vain = 0;
        yield event;
      }
      if (connection.ended) return;
      if (connection.caughtUp) vain = 0;
    } catch (failure) {
      signal?.throwIfAborted();
      if (connection.caughtUp) vain = 0;
      const curable = failure instanceof Refused ? failure.retryable : true;
      if (!curable || vain >= attempts) throw asFailure(failure);
    } finally {
      connection.close();
    }
    if (vain >= attempts) throw new NoAnswer('The stream of events broke off again and again', undefined);
    // After a good connection the first wait is the server's own, else it grows.
    const wait = vain === 0 ? connection.retryMs : waitBefore(vain, connection.retryAfter, Math.random());
    await pause(wait ?? 60_000, signal);
  }
}

const asFailure = (failure: unknown): unknown =>
  failure instanceof Refused ? failure : new NoAnswer('The stream of events broke off', failure);

/** One connection of a stream. */
class Connection {
  ended = false;
  /** It had brought all there was: that a proxy then cut an idle connection is no failure. */
  caughtUp = false;
  retryAfter: string | null = null;
  private readonly stream = new EventStream();
  private readonly stop = new AbortController();
  private readonly onAbort = () => this.close();
  private silence: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly transport: Transport,
    private readonly runId: string,
    private readonly after: string | undefined,
    private readonly signal: AbortSignal | undefined,
  ) {
    if (signal?.aborted) this.close();
    signal?.addEventListener('abort', this.onAbort, { once: true });
  }

  get retryMs(): number {
    return this.stream.retryMs ?? 1_000;
  }

  close(): void {
    clearTimeout(this.silence);
    this.signal?.removeEventListener('abort', this.onAbort);
    this.stop.abort();
  }

  async *events(): AsyncGenerator<RunStreamEvent, void, undefined> {
    const response = await this.connect();
    if (response.status === 204) this.ended = true;
    if (this.ended || !response.body) return;
    for await (const chunk of response.body) {
      this.listen();
      for (const { id, event, data } of this.stream.feed(chunk as Uint8Array)) {
        if (event === 'agent-run-event') yield { ...JSON.parse(data), cursor: id } as RunStreamEvent;
        this.caughtUp ||= event === 'caught-up';
        this.ended ||= event === 'end';
        if (this.ended) return;
      }
    }
  }

  private async connect(): Promise<Response> {
    this.listen();
    const route = 'GET /v1/runs/{run_id}/events';
    const path = pathOf('/v1/runs/{run_id}/events', { run_id: this.runId });
    const headers = {
      accept: 'text/event-stream',
      ...(this.after === undefined ? {} : { 'last-event-id': this.after }),
    };
    const response = await this.transport.open({ method: 'GET', path, route, headers }, this.stop.signal);
    if (response.ok) return response;
    this.retryAfter = response.headers.get('retry-after');
    throw await refusalOf(response);
  }

  /** Begins the time anew within which something must be heard. */
  private listen(): void {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.close(), SILENCE_MS);
  }
}
