import { token } from './token';

/** The contexts whose events have a stream of their own, and the stream that holds each. */
export const CONTEXT_STREAMS = {
  runs: 'RUNS',
  conversations: 'RUNS',
  erasures: 'RUNS',
  bulk: 'RUNS',
  agents: 'AGENTS',
  catalogue: 'AGENTS',
  knowledge: 'AGENTS',
  people: 'PEOPLE',
  schedules: 'SCHEDULES',
  budgets: 'BUDGETS',
  approvals: 'APPROVALS',
  permissions: 'APPROVALS',
  tasks: 'TASKS',
} as const;

export type Context = keyof typeof CONTEXT_STREAMS;
export type LogStream = (typeof CONTEXT_STREAMS)[Context];

/** Work queues: a message is there until a worker has acknowledged it. */
export const QUEUES = { requests: 'REQUESTS', work: 'WORK' } as const;

/** Where messages go that nobody could handle; kept until an operator retries or drops them. */
export const DEAD_STREAM = 'DEAD';

/** Number of slots an aggregate's id is hashed into. Fixed for ever: it is part of every subject on disk. */
export const SLOTS = 16;

/** Slot of an aggregate: 32-bit FNV-1a of its id, modulo 16. A disk format: never change it. */
export function slotOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) {
    hash ^= id.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash >>> 0) % SLOTS;
}

/** Subject of one aggregate: `runyard.<context>.<slot>.<org>.<id>`. Throws InvalidToken on an id that is no token. */
export function subjectOf(context: Context, org: string, id: string): string {
  return `runyard.${context}.${slotOf(id)}.${token('org', org)}.${token(`${context} id`, id)}`;
}

/** Pattern of all aggregates of an org in a context. */
export function orgSubjects(context: Context, org: string): string {
  return `runyard.${context}.*.${token('org', org)}.*`;
}

export interface SubjectParts {
  context: Context;
  org: string;
  id: string;
}

/** The inverse of {@link subjectOf}; undefined for a subject that it did not build. */
export function parseSubject(subject: string): SubjectParts | undefined {
  const [root, context, slot, org, id, ...rest] = subject.split('.');
  if (root !== 'runyard' || !context || !(context in CONTEXT_STREAMS) || !org || !id || rest.length)
    return undefined;
  if (slot !== String(slotOf(id))) return undefined;
  return { context: context as Context, org, id };
}

/** Where any service publishes run requests of an org (work queue `REQUESTS`). */
export function requestSubject(org: string): string {
  return `runyard.requests.${token('org', org)}`;
}

/** Where a run is announced as runnable (work queue `WORK`). */
export function workSubject(org: string, runId: string): string {
  return `runyard.work.${slotOf(runId)}.${token('org', org)}.${token('run id', runId)}`;
}

/** Where a message that could not be handled is kept: its stream and consumer stay readable in the subject. */
export function deadSubject(stream: string, consumer: string): string {
  return `runyard.dead.${token('stream', stream)}.${token('consumer', consumer)}`;
}

/** Where a process answers for itself: a request to a dead one is answered "no responders" at once (P3.3a). */
export function presenceSubject(service: string, instance: string): string {
  return `runyard.presence.${token('service', service)}.${token('instance', instance)}`;
}

/** Where a process is told that something was appended to a run that it drives. A mere wake-up. */
export function wakeSubject(service: string, instance: string): string {
  return `runyard.wake.${token('service', service)}.${token('instance', instance)}`;
}

/** Where intake answers the request of a slot; the address names the slot, since a refusal does not (P7.2). */
export function slotAnswerSubject(org: string, agentId: string, slot: number): string {
  return `runyard.answers.slots.${token('org', org)}.${token('agent id', agentId)}.${slot}`;
}

/** Every answer to a slot's request. */
export const SLOT_ANSWERS = 'runyard.answers.slots.*.*.*';

/** The inverse of {@link slotAnswerSubject}; undefined for a subject that it did not build. */
export function parseSlotAnswer(subject: string): { org: string; agentId: string; slot: number } | undefined {
  const match = /^runyard\.answers\.slots\.([\w-]+)\.([\w-]+)\.(-?\d{1,16})$/.exec(subject);
  const [, org, agentId, slot] = match ?? [];
  return org && agentId ? { org, agentId, slot: Number(slot) } : undefined;
}

/** Where intake answers the request of a task's phase; the address names task and request, since a refusal does not. */
export function taskAnswerSubject(org: string, taskId: string, number: number): string {
  return `runyard.answers.tasks.${token('org', org)}.${token('task id', taskId)}.${number}`;
}

/** Every answer to a task's request. */
export const TASK_ANSWERS = 'runyard.answers.tasks.*.*.*';

/** The inverse of {@link taskAnswerSubject}; undefined for a subject that it did not build. */
export function parseTaskAnswer(
  subject: string,
): { org: string; taskId: string; number: number } | undefined {
  const match = /^runyard\.answers\.tasks\.([\w-]+)\.([\w-]+)\.(\d{1,9})$/.exec(subject);
  const [, org, taskId, number] = match ?? [];
  return org && taskId ? { org, taskId, number: Number(number) } : undefined;
}
