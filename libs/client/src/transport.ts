import { NoAnswer, refusalOf } from './failures';
import { isRepeatable, mayRetry, pause, waitBefore } from './retry';

export interface ClientOptions {
  /** Address of the gateway, e.g. `http://localhost:8080`. */
  url: string;
  /** An API key or a token. */
  key: string;
  /** Retries of a call where they are safe. Default 2. */
  retries?: number;
  /** Longest wait for one answer, milliseconds. Default 90,000: a call may wait 60 s for the end of a run. */
  timeoutMs?: number;
  /** Default: the global fetch. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Stops the call and its retries; it then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Names a POST for the server, so that its repetition is the same one. Default: a fresh random one per call, kept over its retries. */
  idempotencyKey?: string;
  headers?: Record<string, string>;
  timeoutMs?: number;
}

export interface Sent extends CallOptions {
  method: string;
  path: string;
  /** Name for the rules of retries: `POST /v1/runs`. */
  route: string;
  body?: unknown;
}

/** Requests with retries. Holds no state of a call, so that one serves any number of them at once. */
export class Transport {
  private readonly base: string;
  private readonly retries: number;
  private readonly timeoutMs: number;

  constructor(private readonly options: ClientOptions) {
    this.base = options.url.replace(/\/+$/, '');
    this.retries = options.retries ?? 2;
    this.timeoutMs = options.timeoutMs ?? 90_000;
  }

  /** An answer of success; retried where that is safe. Throws Refused, NoAnswer, or the signal's reason. */
  async send(sent: Sent): Promise<Response> {
    const posts = sent.method === 'POST';
    const key = sent.idempotencyKey ?? (posts ? crypto.randomUUID() : undefined);
    const headers = { ...sent.headers, ...(key === undefined ? {} : { 'idempotency-key': key }) };
    for (let attempt = 1; ; attempt++) {
      const answer = await this.once({ ...sent, headers });
      if (answer instanceof Response && answer.ok) return answer;
      const failure = answer instanceof Response ? await refusalOf(answer) : answer;
      const retryAfter = answer instanceof Response ? answer.headers.get('retry-after') : null;
      const wait = waitBefore(attempt, retryAfter, Math.random());
      const spent = attempt > this.retries || wait === undefined;
      if (spent || !mayRetry(failure, isRepeatable(sent.route))) throw failure;
      await pause(wait, sent.signal);
    }
  }

  /** One request, its whole body within the time; the answer or the failure. Rejects with the signal's reason only. */
  private async once(sent: Sent): Promise<Response | NoAnswer> {
    const limit = AbortSignal.timeout(sent.timeoutMs ?? this.timeoutMs);
    try {
      const answer = await this.open(sent, sent.signal ? AbortSignal.any([sent.signal, limit]) : limit);
      const empty = answer.status === 204 || answer.status === 304;
      return new Response(empty ? null : await answer.arrayBuffer(), answer);
    } catch (cause) {
      sent.signal?.throwIfAborted();
      const what = limit.aborted ? 'was not answered in time' : 'got no answer';
      return new NoAnswer(`${sent.route} ${what}`, cause);
    }
  }

  /** One request, whose body is still to be read. */
  open(sent: Omit<Sent, 'timeoutMs'>, signal: AbortSignal): Promise<Response> {
    const { method, path, headers, body } = sent;
    const ask = this.options.fetch ?? fetch;
    return ask(`${this.base}${path}`, {
      method,
      signal,
      headers: {
        authorization: `Bearer ${this.options.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        accept: 'application/json',
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}
