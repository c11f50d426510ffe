import { Catch } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Problem } from '@runyard/contracts';
import { PROBLEM_CONTENT_TYPE, problemDocument, retryAfter, toProblem } from './problem-document';

export interface ProblemLog {
  error(fields: object, message: string): void;
}

/** The one place where a refusal or a failure becomes an answer, whatever part of the door it was thrown in. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly publicUrl: string,
    private readonly log: ProblemLog,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const problem = toProblem(error);
    const path = request.url.split('?')[0] ?? '/';
    if (problem.code === 'internal')
      this.log.error({ err: error, requestId: request.id, path }, 'a request failed');
    if (reply.sent || reply.raw.headersSent) {
      // Too late for an answer: cutting the connection is the only way left to say that it is not whole.
      reply.raw.destroy();
      return;
    }
    const document = problemDocument(problem, { publicUrl: this.publicUrl, path, requestId: request.id });
    for (const [name, value] of Object.entries(headersOf(problem))) reply.header(name, value);
    void reply.code(document.status).type(PROBLEM_CONTENT_TYPE).send(JSON.stringify(document));
  }
}

function headersOf(problem: Problem): Record<string, string> {
  const seconds = retryAfter(problem);
  return {
    'cache-control': 'no-store',
    ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }),
    ...(problem.code === 'unauthenticated' ? { 'www-authenticate': 'Bearer realm="runyard"' } : {}),
    ...(problem.code === 'method_not_allowed' && Array.isArray(problem.facts.allow)
      ? { allow: problem.facts.allow.join(', ') }
      : {}),
  };
}
