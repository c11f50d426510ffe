import helmet from '@fastify/helmet';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '@runyard/contracts';
import type { Histogram } from 'prom-client';
import type { ProblemFilter } from '../problems/problem-filter';
import { requestIdOf } from './door';
import type { Door } from './door';

export interface ServerSettings {
  /** Largest body, bytes. */
  maxBodyBytes: number;
  /** Addresses of proxies whose X-Forwarded-For is believed, separated by commas; false: none. */
  trustProxy: false | string;
}

/** Ids come as path parameters; a longer one names nothing. */
const MAX_PARAMETER = 200;
/** Time that a client has to send its request, headers and body: a slow one must not hold a connection for ever. */
const REQUEST_TIMEOUT_MS = 30_000;

/** The HTTP server, before any route is mounted on it. */
export function createServer(settings: ServerSettings): FastifyAdapter {
  return new FastifyAdapter({
    logger: false,
    bodyLimit: settings.maxBodyBytes,
    trustProxy: settings.trustProxy,
    requestTimeout: REQUEST_TIMEOUT_MS,
    requestIdHeader: false,
    genReqId: (request: { headers: Record<string, string | string[] | undefined> }) =>
      requestIdOf(request.headers['x-request-id']),
    routerOptions: { maxParamLength: MAX_PARAMETER, ignoreTrailingSlash: true },
    // The router refuses a malformed URL before any hook runs.
    frameworkErrors: (_error: Error, request: { id: string }, reply: FastifyReply) => {
      void reply
        .code(400)
        .type('application/problem+json')
        .send(JSON.stringify(malformedUrl(request.id)));
    },
  });
}

const malformedUrl = (requestId: string) => ({
  type: '/v1/problems/invalid_request',
  title: 'The request is not valid',
  status: 400,
  detail: 'The URL is malformed, or a part of it is too long',
  instance: '/',
  code: 'invalid_request',
  request_id: requestId,
  retryable: false,
});

/** Where the door says what it has let through; at debug level, since metrics count and refusals explain themselves. */
export interface DoorReport {
  log: { debug(fields: object, message: string): void };
  seconds: Histogram<'route' | 'method' | 'status'>;
}

/** Puts the door in front of all routes: security headers first, so that refusals carry them as well. */
export async function installDoor(
  adapter: FastifyAdapter,
  door: Door,
  filter: ProblemFilter,
  report: DoorReport,
): Promise<void> {
  const instance: FastifyInstance = adapter.getInstance();
  await instance.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    referrerPolicy: { policy: 'no-referrer' },
  });
  acceptJsonOnly(instance);
  instance.decorateRequest('call', undefined);
  instance.decorateRequest('credential', undefined);
  instance.decorateRequest('traceparent', '');
  instance.decorateRequest('span', undefined);
  instance.addHook('onRequest', async (request, reply) => door.admit(request, reply));
  instance.addHook('preHandler', (request, reply, done) => {
    try {
      door.prepare(request, () => done());
    } catch (error) {
      filter.answer(error, request, reply);
    }
  });
  instance.addHook('onResponse', (request, reply, done) => {
    reportAnswer(door.nameOf(request), request, reply, report);
    done();
  });
}

function reportAnswer(route: string, request: FastifyRequest, reply: FastifyReply, report: DoorReport): void {
  const labels = { route, method: request.method, status: String(reply.statusCode) };
  request.span?.set({ 'http.response.status_code': reply.statusCode });
  if (reply.statusCode >= 500) request.span?.fail(String(reply.statusCode));
  request.span?.end();
  report.seconds.observe(labels, reply.elapsedTime / 1000);
  const { id: requestId, credential } = request;
  const who = { credential: credential?.id, org: credential?.caller.org };
  report.log.debug({ ...labels, ...who, requestId, ms: Math.round(reply.elapsedTime) }, 'answered');
}

const noObject = (): Problem =>
  new Problem('invalid_request', 'The request is not valid: / must be a JSON object', {
    errors: [{ pointer: '/', detail: 'must be a JSON object' }],
  });

/** One content type in; an empty body is none, because clients that always send the header mean nothing by it. */
function acceptJsonOnly(instance: FastifyInstance): void {
  const parse = instance.getDefaultJsonParser('error', 'error');
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = String(body);
    if (text === '') return done(null, undefined);
    void parse(request, text, (error, value) => {
      if (error) return done(new Problem('malformed_json', 'The body is not valid JSON'), undefined);
      // An empty body means nothing; `null` is something, and no object.
      if (value === null) return done(noObject(), undefined);
      done(null, value);
    });
  });
}
