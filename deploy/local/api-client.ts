/** A refusal of the API, with the code of its problem document. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
  ) {
    super(`${code}: ${detail}`);
  }
}

/** One event of a run, as the stream carries it. */
export interface RunEventFrame {
  run_id: string;
  type: string;
  time: string;
  data: Record<string, unknown>;
}

/** The little of the HTTP API that the local start needs. */
export class ApiClient {
  constructor(
    readonly url: string,
    private readonly key: string,
  ) {}

  /** Calls the API; throws Refused. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const answer = (await response.json()) as T & { code?: string; detail?: string };
    if (!response.ok)
      throw new Refused(response.status, answer.code ?? 'unknown', answer.detail ?? response.statusText);
    return answer;
  }

  /** Events of a run from its first one to its end. */
  async *events(runId: string): AsyncGenerator<RunEventFrame> {
    const response = await fetch(`${this.url}/v1/runs/${runId}/events`, {
      headers: { authorization: `Bearer ${this.key}`, accept: 'text/event-stream' },
    });
    if (!response.ok || !response.body) throw new Refused(response.status, 'stream', response.statusText);
    let rest = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const frames = (rest + chunk).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        const fields = new Map(
          frame
            .split('\n')
            .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        );
        if (fields.get('event') === 'end') return;
        if (fields.get('event') === 'agent-run-event')
          yield JSON.parse(fields.get('data') ?? '') as RunEventFrame;
      }
    }
  }
}
