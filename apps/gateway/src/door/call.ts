import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '@runyard/contracts';
import type { OpenSpan } from '@runyard/service';
import type { Credential } from '../credentials/credential';
import type { RouteDeclaration } from './route';

/** A request that has passed the door: who asks, and what, checked against the route's declaration. */
export interface Call<Input = Record<string, unknown>> {
  route: RouteDeclaration;
  caller: Caller;
  credential: Credential | undefined;
  input: Input;
  requestId: string;
  /** Lower-case names; the few headers that routes of their own look at. */
  headers: Readonly<Record<string, string | undefined>>;
  method: string;
  path: string;
  query: Readonly<Record<string, unknown>>;
}

/** What a route answers. Without status the declaration's first success is meant. */
export class Answer {
  constructor(
    readonly body: unknown,
    readonly options: { status?: number; headers?: Record<string, string> } = {},
  ) {}
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the door; undefined until it has let the request in. */
    call: Call | undefined;
    credential: Credential | undefined;
    /** W3C trace context: the client's, or a new one. */
    traceparent: string;
    /** Ends with the answer; undefined until the door has been reached. */
    span: OpenSpan | undefined;
  }
}

/** Nobody: the caller of public routes. Such routes call no service. */
export const NOBODY: Caller = { org: '', actor: 'system:gateway', userId: null, roles: [] };

/** The call, as the parameter of a route's method. */
export const FromRequest = createParamDecorator((_data: unknown, context: ExecutionContext): Call => {
  const { call } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!call) throw new Error('A route is mounted that the door does not know; declare it with @Route');
  return call;
});
