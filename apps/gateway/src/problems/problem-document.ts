import { PROBLEMS, Problem } from '@runyard/contracts';
import type { FieldError, ProblemCode } from '@runyard/contracts';
import { PROBLEM_CATALOGUE } from './problem-catalogue';

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/** A problem as clients see it (RFC 9457), with our extension members. */
export interface ProblemDocument {
  /** URL of the problem's page; an identifier first, a link second. */
  type: string;
  title: string;
  status: number;
  detail: string;
  /** Path of the request. */
  instance: string;
  /** The stable part: programs decide by it. */
  code: ProblemCode;
  request_id: string;
  retryable: boolean;
  errors?: FieldError[];
  [fact: string]: unknown;
}

export interface ProblemPlace {
  /** Public origin of the gateway, or '' for relative type URLs. */
  publicUrl: string;
  path: string;
  requestId: string;
}

/** Seconds after which a client may ask again where the problem itself does not say. */
const DEFAULT_RETRY_SECONDS = 1;

/** Facts that are for headers, or say how we are made. */
const OURS: ReadonlySet<string> = new Set([
  'retryAfterSeconds',
  'service',
  'method',
  'maybeDone',
  'reference',
]);

/** Pure: what a client is told. Facts of the problem become extension members; they never replace the standard ones. */
export function problemDocument(problem: Problem, place: ProblemPlace): ProblemDocument {
  const { errors, ...facts } = problem.facts;
  const entry = PROBLEM_CATALOGUE[problem.code];
  return {
    ...(problem.code === 'internal'
      ? {}
      : Object.fromEntries(Object.entries(facts).filter(([name]) => !OURS.has(name)))),
    type: `${place.publicUrl}/v1/problems/${problem.code}`,
    title: entry.title,
    status: PROBLEMS[problem.code],
    detail: problem.code === 'internal' ? entry.meaning : problem.message,
    instance: place.path,
    code: problem.code,
    request_id: place.requestId,
    retryable: entry.retryable,
    ...(errors ? { errors } : {}),
  };
}

/** Value of `Retry-After` in seconds; undefined for problems that repeating does not cure. */
export function retryAfter(problem: Problem): number | undefined {
  if (!PROBLEM_CATALOGUE[problem.code].retryable) return undefined;
  return Math.max(1, Math.ceil(problem.facts.retryAfterSeconds ?? DEFAULT_RETRY_SECONDS));
}

/** What the HTTP server itself refuses (status and code as Fastify gives them), in our words. */
const SERVER_REFUSALS: Readonly<Record<string, [ProblemCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The body is larger than the server accepts'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['malformed_json', 'The body is not valid JSON'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['malformed_json', 'The body is empty, but Content-Type says JSON'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'Content-Length does not fit the body'],
};

const BY_STATUS: Readonly<Record<number, [ProblemCode, string]>> = {
  404: ['not_found', 'There is no such path'],
  413: ['payload_too_large', 'The body is larger than the server accepts'],
  415: ['unsupported_media_type', 'Send the body as application/json'],
};

/** Any thrown thing as a Problem. What is not known to be for clients becomes `internal`, whose document says nothing. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem)
    return error.code in PROBLEMS ? error : new Problem('internal', error.message);
  const cause = causeOf(error);
  const known = SERVER_REFUSALS[stringMember(cause, 'code')] ?? BY_STATUS[statusOf(error)];
  if (known) return new Problem(known[0], known[1]);
  if (cause instanceof SyntaxError) return new Problem('malformed_json', 'The body is not valid JSON');
  const status = statusOf(error);
  if (status >= 400 && status < 500) return new Problem('invalid_request', 'The request could not be read');
  return new Problem('internal', error instanceof Error ? error.message : String(error));
}

/** Nest wraps errors of the HTTP server; the original is the cause. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error;
}

function statusOf(error: unknown): number {
  if (!(error instanceof Error)) return 0;
  const status: unknown = Reflect.get(error, 'statusCode') ?? Reflect.get(error, 'status');
  return typeof status === 'number' ? status : 0;
}

function stringMember(of: unknown, name: string): string {
  const value: unknown = of instanceof Error ? Reflect.get(of, name) : undefined;
  return typeof value === 'string' ? value : '';
}
