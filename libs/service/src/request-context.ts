import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes, randomUUID } from 'node:crypto';
import type { Caller } from '@runyard/contracts';
import type { CommitMeta } from '@runyard/event-log';

/** What is known of the work in hand; goes on every log line and on to every service that is called. */
export interface RequestContext {
  requestId: string;
  /** W3C trace context of the caller, passed on unchanged. */
  traceparent?: string;
  org?: string;
  runId?: string;
  method?: string;
  /** What the work in hand is a part of, where that is more than one request; named in what is appended. */
  causationId?: string;
}

const storage = new AsyncLocalStorage<RequestContext>();

export const currentContext = (): RequestContext | undefined => storage.getStore();

/** Runs work with a context; a new request id is made where none is given. */
export function withContext<T>(context: Partial<RequestContext>, work: () => T): T {
  return storage.run({ requestId: randomUUID(), ...storage.getStore(), ...withoutUndefined(context) }, work);
}

function withoutUndefined(context: Partial<RequestContext>): Partial<RequestContext> {
  return Object.fromEntries(Object.entries(context).filter(([, value]) => value !== undefined));
}

/** A traceparent of its own, for work that nobody traced before. */
export function newTraceparent(): string {
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
}

/** Metadata of a commit that a request led to: who, which service, and the request it came from. */
export function commitMeta(caller: Pick<Caller, 'actor'>, source: string): CommitMeta {
  const context = currentContext();
  return {
    actor: caller.actor,
    source,
    ...(context?.requestId ? { causationId: context.requestId, correlationId: context.requestId } : {}),
    ...(context?.traceparent ? { traceparent: context.traceparent } : {}),
  };
}
