import { Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom } from 'rxjs';
import type { Observable } from 'rxjs';
import type { IdempotentCalls } from '../idempotency/idempotent-calls';
import { Answer } from './call';
import type { Call } from './call';

/** Turns what a controller returns into the HTTP answer, once: status, headers, and the replay of repeated POSTs. */
@Injectable()
export class AnswerInterceptor implements NestInterceptor {
  constructor(private readonly idempotent: IdempotentCalls) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    return from(this.answer(http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>(), next));
  }

  private async answer(request: FastifyRequest, reply: FastifyReply, next: CallHandler): Promise<unknown> {
    const { call } = request;
    if (!call) throw new Error('A request reached a controller without passing the door');
    const work = async (): Promise<Answer> => {
      const result: unknown = await lastValueFrom(next.handle());
      return result instanceof Answer ? result : new Answer(result);
    };
    const { body, options } = await this.idempotent.run(call, request.body, work);
    void reply.code(options.status ?? call.route.success[0]?.status ?? 200);
    const headers = {
      'cache-control': 'no-store',
      ...etagOf(body),
      ...nextOf(call, body),
      ...options.headers,
    };
    for (const [name, value] of Object.entries(headers)) reply.header(name, value);
    return body;
  }
}

/** Rows that carry an `etag` say it in the header as well, for If-Match. */
function etagOf(body: unknown): Record<string, string> {
  const etag: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'etag') : undefined;
  return typeof etag === 'string' ? { etag: `"${etag}"` } : {};
}

/** A list with more to come says where, so that clients need not build the address. */
function nextOf(call: Call, body: unknown): Record<string, string> {
  if (call.method !== 'GET' || typeof body !== 'object' || body === null) return {};
  const cursor: unknown = Reflect.get(body, 'next_cursor') ?? Reflect.get(body, 'next_after');
  if (typeof cursor !== 'string' && typeof cursor !== 'number') return {};
  // Parts of a run are continued by place, everything else by cursor.
  const name = 'after' in call.route.input.shape ? 'after' : 'cursor';
  const query = new URLSearchParams();
  for (const [field, value] of Object.entries(call.query))
    if (field !== name) query.append(field, String(value));
  query.set(name, String(cursor));
  return { link: `<${call.path}?${query.toString()}>; rel="next"` };
}
