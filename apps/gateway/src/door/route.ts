import { RequestMapping, RequestMethod } from '@nestjs/common';
import type { ProblemCode, Role } from '@runyard/contracts';
import type { z } from 'zod';

/** One way in which a route succeeds. */
export interface Success {
  status: 200 | 201 | 202 | 204;
  description: string;
  /** Shape of the body, for the API description; undefined: no body. */
  body?: z.ZodType;
  contentType?: string;
}

/**
 * All that is to be known of a route, said once: it is mounted, guarded, validated, described in OpenAPI and tested from
 * this. `input` names everything that the route reads; where a field comes from follows from the path and the method
 * (see request-input.ts).
 */
export interface RouteDeclaration {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Nest's form: `/v1/runs/:run_id`. */
  path: string;
  /** Unique; the operation's name in OpenAPI and in logs. */
  name: string;
  tag: string;
  summary: string;
  description?: string;
  /** Roles of which the caller must have one; `public`: no credential is asked for. */
  access: 'public' | readonly Role[];
  input: z.ZodObject;
  /** Fields that a route with a body takes from the query instead. */
  query?: readonly string[];
  success: readonly Success[];
  /** Refusals beyond those that every route has. */
  problems?: readonly ProblemCode[];
  /** How `Idempotency-Key` works: the answer is replayed for 24 h, or the key names the run for ever. POST only. */
  idempotency?: 'replayed' | 'run';
  /** Members of the answer that are shown once: a replay has null in their place. */
  shownOnce?: readonly string[];
}

const ROUTE = Symbol('ROUTE');

/** Mounts a controller's method as a route. Its only parameter is `@FromRequest() call: Call<…>`. */
export function Route(declaration: RouteDeclaration): MethodDecorator {
  return (target, key, descriptor: PropertyDescriptor) => {
    Object.defineProperty(descriptor.value, ROUTE, { value: declaration });
    RequestMapping({ path: declaration.path, method: RequestMethod[declaration.method] })(
      target,
      key,
      descriptor,
    );
  };
}

/** The routes that a controller class declares, in the order of its methods. */
export function routesOf(controller: { prototype: object }): RouteDeclaration[] {
  return Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
    const method: unknown = Object.getOwnPropertyDescriptor(controller.prototype, name)?.value;
    const declaration: unknown = typeof method === 'function' ? Reflect.get(method, ROUTE) : undefined;
    return declaration ? [declaration as RouteDeclaration] : [];
  });
}

/** Names of the path's parameters, in order. */
export const pathParameters = (path: string): string[] =>
  [...path.matchAll(/:([a-z_]+)/g)].map((match) => match[1] ?? '');

/** Finds declarations for requests. */
export class RouteTable {
  private readonly byKey: ReadonlyMap<string, RouteDeclaration>;
  private readonly patterns: readonly { pattern: RegExp; method: string }[];

  constructor(readonly routes: readonly RouteDeclaration[]) {
    this.byKey = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
    this.patterns = routes.map(({ path, method }) => ({
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:[a-z_]+/g, '[^/]+')}/?$`),
      method,
    }));
  }

  /** The declaration of a mounted route; HEAD is answered by GET. */
  find(method: string, path: string | undefined): RouteDeclaration | undefined {
    return this.byKey.get(`${method === 'HEAD' ? 'GET' : method} ${path ?? ''}`);
  }

  /** Methods offered at a concrete path; empty where the path does not exist. */
  methodsAt(path: string): string[] {
    const methods = this.patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    return [...new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods)].sort();
  }
}
