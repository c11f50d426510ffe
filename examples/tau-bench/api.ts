import { setTimeout as wait } from 'node:timers/promises';

/** A refusal of the API. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly body: string,
  ) {
    super(`${status}: ${body.slice(0, 500)}`);
  }
}

/** A run as the API shows it, as far as this example reads it. */
export interface RunRow {
  run_id: string;
  state: string;
  reason: string | null;
  position: string;
}

const ENDED = new Set(['succeeded', 'failed', 'cancelled', 'skipped']);

/** The little of Runyard's HTTP API that this example needs. */
export class Api {
  constructor(
    private readonly base: string,
    private readonly key: string,
  ) {}

  async call<T>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const response = await fetch(`${this.base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Refused(response.status, text);
    return JSON.parse(text) as T;
  }

  /** Starts a run and waits for its end. The key names the run for ever, so every call may be repeated. */
  async run(body: object, key: string): Promise<RunRow> {
    for (;;) {
      const started = await this.patiently(() =>
        this.call<RunRow>('POST', '/v1/runs', body, { 'idempotency-key': key, prefer: 'wait=30' }),
      );
      if (ENDED.has(started.state)) return started;
      await wait(100);
    }
  }

  /** Repeats what failed for a passing reason: a service that is restarting, too many requests. */
  async patiently<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        const passing = !(error instanceof Refused) || error.status === 429 || error.status >= 500;
        if (!passing || attempt >= 100) throw error;
        await wait(Math.min(1_000, 100 * attempt));
      }
    }
  }
}
