import type { Runyard } from './client';
import { Listing } from './listing';
import type { Page } from './listing';
import type { Run } from './operations';
import type { Body, Query } from './route-call';
import { runStream } from './run-stream';
import type { RunStreamEvent, StreamOptions } from './run-stream';
import type { CallOptions } from './transport';

/** A list's query without its paging. */
type Filter<Q> = Omit<Q, 'cursor'>;

/** Runs: start, watch, control, read. */
export class Runs {
  constructor(private readonly client: Runyard) {}

  /** Asks for a run. The idempotency key names it for ever: the same key and body is the same run. */
  start(body: Body<'POST /v1/runs'>, options: CallOptions = {}) {
    return this.client.call('POST /v1/runs', { ...options, body });
  }

  /** Starts a run and waits for its end, however long and over however many connections. */
  async finish(body: Body<'POST /v1/runs'>, options: CallOptions = {}): Promise<Run> {
    const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID();
    const { run_id } = await this.start(body, { ...options, idempotencyKey });
    return this.ended(run_id, options.signal ? { signal: options.signal } : {});
  }

  /** The run as it is when it has ended. */
  async ended(runId: string, options: StreamOptions = {}): Promise<Run> {
    let at_least: string | undefined;
    for await (const { position } of this.stream(runId, options)) at_least = position;
    const { signal } = options;
    const query = at_least === undefined ? {} : { at_least };
    return this.client.call('GET /v1/runs/{run_id}', {
      path: { run_id: runId },
      query,
      ...(signal ? { signal } : {}),
    });
  }

  /** Its events, each once, to its end; reconnects by itself. */
  stream(runId: string, options: StreamOptions = {}): AsyncGenerator<RunStreamEvent, void, undefined> {
    return runStream(this.client.transport, runId, options);
  }

  list(query: Filter<Query<'GET /v1/runs'>> = {}, options: CallOptions = {}): Listing<Run> {
    return listing((cursor) =>
      this.client.call('GET /v1/runs', { ...options, query: { ...query, ...cursor } }),
    );
  }

  get(run_id: string, options: CallOptions & Query<'GET /v1/runs/{run_id}'> = {}) {
    const { at_least, ...rest } = options;
    const query = at_least === undefined ? {} : { at_least };
    return this.client.call('GET /v1/runs/{run_id}', { ...rest, path: { run_id }, query });
  }

  steps(run_id: string, query: Query<'GET /v1/runs/{run_id}/steps'> = {}, options: CallOptions = {}) {
    return this.client.call('GET /v1/runs/{run_id}/steps', { ...options, path: { run_id }, query });
  }

  inspect(run_id: string, options: CallOptions = {}) {
    return this.client.call('GET /v1/runs/{run_id}/inspect', { ...options, path: { run_id } });
  }

  trajectory(
    run_id: string,
    query: Query<'GET /v1/runs/{run_id}/trajectory'> = {},
    options: CallOptions = {},
  ) {
    return this.client.call('GET /v1/runs/{run_id}/trajectory', { ...options, path: { run_id }, query });
  }

  cancel(run_id: string, options: CallOptions = {}) {
    return this.client.call('POST /v1/runs/{run_id}/cancel', { ...options, path: { run_id } });
  }

  pause(run_id: string, options: CallOptions = {}) {
    return this.client.call('POST /v1/runs/{run_id}/pause', { ...options, path: { run_id } });
  }

  resume(run_id: string, options: CallOptions = {}) {
    return this.client.call('POST /v1/runs/{run_id}/resume', { ...options, path: { run_id } });
  }

  extend(run_id: string, body: Body<'POST /v1/runs/{run_id}/extend'>, options: CallOptions = {}) {
    return this.client.call('POST /v1/runs/{run_id}/extend', { ...options, path: { run_id }, body });
  }

  delete(run_id: string, options: CallOptions = {}) {
    return this.client.call('DELETE /v1/runs/{run_id}', { ...options, path: { run_id } });
  }
}

/** A list out of a route that pages. */
export function listing<Row>(read: (cursor: { cursor?: string }) => Promise<Page<Row>>): Listing<Row> {
  return new Listing((cursor) => read(cursor === undefined ? {} : { cursor }));
}
