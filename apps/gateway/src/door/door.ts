import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '@runyard/contracts';
import { newTraceparent, Tracing, withContext } from '@runyard/service';
import type { OpenSpan } from '@runyard/service';
import type { Authenticator } from '../credentials/authenticator';
import { presented, requireRole } from '../credentials/credential';
import type { Credential, Presented } from '../credentials/credential';
import { NOBODY } from './call';
import { rateHeaders } from './rate-limit';
import type { RateAnswer, RateLimiter } from './rate-limit';
import { inputOf } from './request-input';
import type { RouteDeclaration, RouteTable } from './route';

const REQUEST_ID = /^[A-Za-z0-9._-]{8,128}$/;
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The id that a request brings along, where it may stand in a log line, or a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : randomUUID();
}

/** The trace that a request brings along; undefined where it brings none that is one. */
function givenTrace(request: FastifyRequest): string | undefined {
  const given = one(request.headers.traceparent);
  return given !== undefined && TRACEPARENT.test(given) ? given : undefined;
}

/**
 * What every request passes before a controller sees it, in this order: is there such a route; who asks; not too often;
 * has the role; and, once the body is read, is the input what the route declares. A body of somebody unknown is never read.
 */
export class Door {
  constructor(
    private readonly table: RouteTable,
    private readonly authenticator: Authenticator,
    private readonly limits: {
      /** Per credential, or per address where none is asked for. */
      requests: RateLimiter;
      /** Credentials that did not hold, per address. */
      failures: RateLimiter;
    },
    private readonly tracing = Tracing.off,
  ) {}

  /** Before the body: route, credential, rate, role. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    reply.header('x-request-id', request.id);
    request.span = this.spanOf(request);
    request.traceparent = request.span.traceparent ?? newTraceparent();
    const route = this.routeOf(request);
    if (route.access === 'public') return this.limit(`address:${request.ip}`, reply);
    const { traceparent } = request;
    const credential = await withContext({ requestId: request.id, traceparent }, () =>
      this.identify(request),
    );
    request.credential = credential;
    this.limit(credential.id, reply);
    requireRole(credential.caller, route.access);
  }

  /** After the body: the input, checked; what follows runs with request, org and route in its log lines. */
  prepare(request: FastifyRequest, next: () => void): void {
    const route = this.routeOf(request);
    const caller = request.credential?.caller ?? NOBODY;
    const input = inputOf(route, {
      params: request.params as Record<string, string>,
      query: request.query as Record<string, unknown>,
      body: request.body,
      ifMatch: one(request.headers['if-match']),
    });
    request.call = {
      route,
      caller,
      credential: request.credential,
      input,
      requestId: request.id,
      headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, one(value)])),
      method: request.method,
      path: pathOf(request),
      query: request.query as Record<string, unknown>,
    };
    const runId = typeof input.run_id === 'string' ? input.run_id : undefined;
    withContext(
      {
        requestId: request.id,
        traceparent: request.traceparent,
        org: caller.org || undefined,
        runId,
        method: route.name,
      },
      next,
    );
  }

  /** Name of the route for metrics; `none` for paths that do not exist, whose number is without bound. */
  nameOf(request: FastifyRequest): string {
    return this.table.find(request.method, request.routeOptions.url)?.name ?? 'none';
  }

  private spanOf(request: FastifyRequest): OpenSpan {
    const path = request.is404 ? undefined : request.routeOptions.url;
    return this.tracing.open(`${request.method} ${path ?? ''}`.trimEnd(), {
      kind: 'server',
      parent: givenTrace(request),
      attributes: { 'http.request.method': request.method, 'http.route': path ?? '' },
    });
  }

  private routeOf(request: FastifyRequest): RouteDeclaration {
    const route = request.is404 ? undefined : this.table.find(request.method, request.routeOptions.url);
    if (route) return route;
    const allow = this.table.methodsAt(pathOf(request));
    if (allow.length === 0)
      throw new Problem('not_found', 'There is no such path; GET /v1/openapi.json describes all');
    throw new Problem('method_not_allowed', `This path offers ${allow.join(', ')}, not ${request.method}`, {
      allow,
    });
  }

  private async identify(request: FastifyRequest): Promise<Credential> {
    const address = `address:${request.ip}`;
    // What fails by its shape, or is not there, is no guess: it can never hold, and nobody is asked.
    const credential = presented(request.headers);
    try {
      if (!this.authenticator.isKnown(credential)) this.refuseGuessing(address);
      return await this.resolve(credential);
    } catch (error) {
      if (error instanceof Problem && error.code === 'unauthenticated')
        this.limits.failures.take(address, performance.now());
      throw error;
    }
  }

  private resolve(credential: Presented): Promise<Credential> {
    return this.authenticator.authenticate(credential);
  }

  private refuseGuessing(address: string): void {
    const answer = this.limits.failures.peek(address, performance.now());
    if (!answer.allowed) throw tooMany('Too many credentials from this address did not hold', answer);
  }

  private limit(key: string, reply: FastifyReply): void {
    const { requests } = this.limits;
    const answer = requests.take(key, performance.now());
    for (const [name, value] of Object.entries(rateHeaders(requests.policy, answer)))
      reply.header(name, value);
    if (!answer.allowed) throw tooMany('The credential has used up its rate', answer);
  }
}

function tooMany(what: string, answer: RateAnswer): Problem {
  return new Problem('rate_limited', `${what}; try again in ${answer.retrySeconds} s`, {
    retryAfterSeconds: answer.retrySeconds,
  });
}

const one = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(', ') : header;

const pathOf = (request: FastifyRequest): string => request.url.split('?')[0] ?? '/';
