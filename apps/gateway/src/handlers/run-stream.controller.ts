import { Controller, StreamableFile } from '@nestjs/common';
import { Answer, FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { RunEnds } from '../stream/run-end';
import { RunStreams } from '../stream/run-streams';
import { ANYBODY, STARTERS } from './access';
import { EVENT_STREAM, STREAM_HEADERS, acceptsStream, wantsStream } from './event-stream';
import { eventPage, runRow, startedRow } from './run-rows';
import { runEvents, startRun } from './run-inputs';
import type { StartRunBody } from './run-inputs';
import { RunStart, preferredWait } from './run-start';
import type { StartedRun } from './run-start';
import { Services } from './services.adapter';

/** Longest wait that a client may prefer, seconds: proxies in between give up after a minute. */
const LONGEST_WAIT_SECONDS = 60;

/** Starting runs and watching them. */
@Controller()
export class RunStreamController {
  constructor(
    private readonly services: Services,
    private readonly starts: RunStart,
    private readonly streams: RunStreams,
    private readonly ends: RunEnds,
  ) {}

  @Route({
    method: 'POST',
    path: '/v1/runs',
    name: 'runs.start',
    tag: 'runs',
    summary: 'Start a run',
    description:
      'The Idempotency-Key names the run for ever: the same key and body is the same run. `Prefer: wait=N` waits for its end, up to 60 s; `?stream=true` or `Accept: text/event-stream` answers with its events.',
    access: STARTERS,
    input: startRun,
    query: ['stream'],
    success: [
      { status: 202, description: 'Requested; Location names the run', body: startedRow },
      { status: 200, description: 'Ended within the wait that was preferred', body: runRow },
    ],
    problems: [
      'idempotency_key_reused',
      'conversation_busy',
      'agent_disabled',
      'agent_locked',
      'agent_without_model',
      'owner_inactive',
    ],
    idempotency: 'run',
  })
  async start(@FromRequest() call: Call<StartRunBody & { stream: boolean }>): Promise<Answer> {
    const { stream, ...body } = call.input;
    const started = await this.starts.start(call, body);
    const headers = {
      location: `/v1/runs/${started.run_id}`,
      ...(started.created === false ? { 'idempotency-replayed': 'true' } : {}),
    };
    if ((stream || acceptsStream(call)) && started.state !== null)
      return this.streamOf(call, started.run_id, undefined, headers);
    const seconds = preferredWait(call.headers.prefer, LONGEST_WAIT_SECONDS);
    if (seconds !== undefined) return this.afterWait(call, started, seconds, headers);
    return new Answer(started, { status: 202, headers });
  }

  @Route({
    method: 'GET',
    path: '/v1/runs/:run_id/events',
    name: 'runs.events',
    tag: 'runs',
    summary: 'Watch or read the events of a run',
    description:
      '`Accept: text/event-stream` streams history, then live events (`agent-run-event`), `caught-up` once and `end` at the end; 204 when there is nothing left to come. Resumes after `Last-Event-ID` or `after`. Otherwise a page of history as JSON.',
    access: ANYBODY,
    input: runEvents,
    success: [
      { status: 200, description: 'A page of events, or the stream of them', body: eventPage },
      { status: 204, description: 'The run has ended and the cursor is at its end: do not reconnect' },
    ],
    problems: ['invalid_cursor', 'cursor_expired'],
  })
  async events(
    @FromRequest() call: Call<{ run_id: string; after?: string; limit: number }>,
  ): Promise<Answer> {
    const { run_id, after, limit } = call.input;
    const row = await this.services.run(call, run_id);
    // On a reconnect the header is newer than the address that EventSource was opened with.
    const cursor = call.headers['last-event-id'] || after;
    if (wantsStream(call)) return this.streamOf(call, run_id, cursor, {}, typeof row.ended_at === 'string');
    const history = await this.streams.history(call.caller.org, run_id, cursor);
    return new Answer(this.streams.page(history, limit));
  }

  private async streamOf(
    call: Call,
    runId: string,
    after: string | undefined,
    headers: Record<string, string>,
    ended = false,
  ): Promise<Answer> {
    const history = await this.streams.history(call.caller.org, runId, after);
    const over = history.ended || (ended && history.commits.length === 0);
    if (over && after !== undefined && history.frames.length === 0)
      return new Answer(undefined, { status: 204 });
    const body = new StreamableFile(this.streams.open(history, call.credential), {
      type: `${EVENT_STREAM}; charset=utf-8`,
    });
    return new Answer(body, { status: 200, headers: { ...headers, ...STREAM_HEADERS } });
  }

  private async afterWait(
    call: Call,
    started: StartedRun,
    seconds: number,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const applied = { ...headers, 'preference-applied': `wait=${seconds}` };
    const position = await this.ends.wait(call.caller.org, started.run_id, seconds * 1000);
    if (position === undefined) return new Answer(started, { status: 202, headers: applied });
    return new Answer(await this.services.run(call, started.run_id, position), {
      status: 200,
      headers: applied,
    });
  }
}
