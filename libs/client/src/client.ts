import { Agents, Approvals, Conversations } from './definitions';
import { Runs } from './resources';
import { pathOf } from './route-call';
import type { Answer, Input, Route } from './route-call';
import { Transport } from './transport';
import type { ClientOptions } from './transport';

/** What came back besides the answer itself. */
export interface Answered<T> {
  answer: T;
  status: number;
  headers: Headers;
}

/**
 * The HTTP API for programs. One instance an address and credential; any number of calls at once. Every call throws
 * {@link Refused} where the API says no, {@link NoAnswer} where nothing came back, or the reason of its signal.
 */
export class Runyard {
  /** Sends requests; for what has no method here, take {@link call}. */
  readonly transport: Transport;
  readonly runs = new Runs(this);
  readonly agents = new Agents(this);
  readonly conversations = new Conversations(this);
  readonly approvals = new Approvals(this);

  constructor(options: ClientOptions) {
    this.transport = new Transport(options);
  }

  /** Calls any route by its name: `client.call('GET /v1/runs/{run_id}', { path: { run_id } })`. */
  async call<R extends Route>(route: R, input: Input<R>): Promise<Answer<R>> {
    return (await this.answered(route, input)).answer;
  }

  /** As {@link call}, with status and headers of the answer. */
  async answered<R extends Route>(route: R, input: Input<R>): Promise<Answered<Answer<R>>> {
    const { path, query, ...rest } = input as Loose;
    const [method = '', template = ''] = route.split(' ');
    const response = await this.transport.send({
      ...rest,
      route,
      method,
      path: pathOf(template, path, query),
    });
    const text = await response.text();
    const answer = (text === '' ? undefined : JSON.parse(text)) as Answer<R>;
    return { answer, status: response.status, headers: response.headers };
  }
}

/** An input as the transport sees it, whatever the route. */
interface Loose {
  path?: Record<string, string | number>;
  query?: Record<string, string | number | boolean>;
  body?: unknown;
  signal?: AbortSignal;
}
