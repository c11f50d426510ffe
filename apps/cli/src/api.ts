import { setTimeout as wait } from 'node:timers/promises';
import { readConnection, required } from './config';

/** A refusal of the API; the message says code, what is wrong, and where. */
export class ApiRefused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
  ) {
    super(`${code}: ${detail}`);
  }
}

/** One event of a run, as the API gives it. */
export interface RunEventFrame {
  run_id: string;
  type: string;
  time: string;
  position: string;
  actor: string;
  data: Record<string, unknown>;
}

export interface EventPage {
  data: RunEventFrame[];
  next_cursor: string | null;
  ended: boolean;
}

interface ProblemBody {
  code?: string;
  detail?: string;
  errors?: { pointer: string; detail: string }[];
}

type Asked = Omit<RequestInit, 'headers'> & { headers: Record<string, string> };

const TIMEOUT_MS = 30_000;
/** Between two attempts to follow a stream that broke. */
const AGAIN_MS = 1_000;

/** The HTTP API with the key of the connection. */
export class Api {
  private constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  /** From the connection file or RUNYARD_API_URL and RUNYARD_API_KEY. Throws CommandFailed where they are not known. */
  static of(file: string | undefined): Api {
    const connection = readConnection(file);
    return new Api(required(connection, 'api_url'), required(connection, 'api_key'));
  }

  /** Calls the API; throws ApiRefused. */
  async call<T>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const response = await this.fetch(path, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer = (await response.json().catch(() => ({}))) as T & ProblemBody;
    if (!response.ok) throw refusalOf(response, answer);
    return answer;
  }

  /** Events of a run up to its end. A connection that breaks is made again, without a gap or a double. */
  async *follow(runId: string, signal: AbortSignal): AsyncGenerator<RunEventFrame> {
    let lastId: string | undefined;
    for (;;) {
      try {
        for await (const frame of this.frames(runId, lastId, signal)) {
          if (frame === 'end') return;
          lastId = frame.id ?? lastId;
          if (frame.event) yield frame.event;
        }
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof ApiRefused && error.status < 500) throw error;
      }
      await wait(AGAIN_MS, undefined, { signal });
    }
  }

  private async *frames(
    runId: string,
    lastId: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<'end' | { id?: string; event?: RunEventFrame }> {
    const response = await this.fetch(`/v1/runs/${encodeURIComponent(runId)}/events`, {
      headers: { accept: 'text/event-stream', ...(lastId && { 'last-event-id': lastId }) },
      signal,
    });
    if (response.status === 204) return yield 'end';
    if (!response.ok) throw refusalOf(response, (await response.json().catch(() => ({}))) as ProblemBody);
    for await (const fields of eventsIn(response.body)) {
      if (fields.event === 'end') return yield 'end';
      if (fields.event === 'agent-run-event')
        yield { id: fields.id, event: JSON.parse(fields.data ?? '') as RunEventFrame };
    }
  }

  private fetch(path: string, init: Asked): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${this.key}` },
    }).catch((error: unknown) => {
      throw new ApiRefused(503, 'unavailable', `${this.url} does not answer (${causeOf(error)})`);
    });
  }
}

const causeOf = (error: unknown): string => {
  const { cause, message } = Object(error) as { cause?: { code?: string }; message?: string };
  return cause?.code ?? message ?? String(error);
};

function refusalOf(response: Response, body: ProblemBody): ApiRefused {
  const fields = (body.errors ?? []).map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ');
  const detail = [body.detail ?? response.statusText, fields].filter(Boolean).join(': ');
  return new ApiRefused(response.status, body.code ?? String(response.status), detail);
}

/** Events of a server-sent stream; lines end in a single LF, as this API writes them. */
async function* eventsIn(body: Response['body']): AsyncGenerator<Record<string, string>> {
  if (!body) return;
  let rest = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + chunk).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events)
      yield Object.fromEntries(
        event
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
  }
}
