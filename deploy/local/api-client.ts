import { Runyard } from '@runyard/client';

export { Refused } from '@runyard/client';

/** One event of a run, as the stream carries it. */
export interface RunEventFrame {
  run_id: string;
  type: string;
  time: string;
  data: Record<string, unknown>;
}

/** The HTTP API for tools of this workspace that build their paths themselves. */
export class ApiClient {
  private readonly client: Runyard;

  constructor(
    readonly url: string,
    key: string,
  ) {
    this.client = new Runyard({ url, key });
  }

  /** Calls the API; throws Refused, or NoAnswer. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.client.transport.send({ method, path, route: `${method} ${path}`, body });
    return (await response.json()) as T;
  }

  /** Events of a run from its first one to its end. */
  async *events(runId: string): AsyncGenerator<RunEventFrame> {
    for await (const event of this.client.runs.stream(runId)) yield event as RunEventFrame;
  }
}
