import { Problem, parseWith } from '@runyard/contracts';
import type { Caller, TaskDetails, UpdateTaskInput } from '@runyard/contracts';
import type { z } from 'zod';
import type { Asker } from '../domain/rights';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** NUL and halves of surrogate pairs: Postgres cannot store them, and no text of a person needs them. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

/** Parses the input of a request; texts that could not be stored are refused with the field that holds them. */
export function parsed<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const pointer = unstorable(input, '');
  if (pointer === undefined) return parseWith(schema, input);
  const detail = 'holds a NUL or an unpaired surrogate';
  throw new Problem('invalid_request', `The request is not valid: ${pointer} ${detail}`, {
    errors: [{ pointer: pointer || '/', detail }],
  });
}

function unstorable(value: unknown, at: string): string | undefined {
  if (typeof value === 'string') return UNSTORABLE.test(value) ? at : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const found = UNSTORABLE.test(key) ? at : unstorable(member, `${at}/${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

export const askerOf = ({ actor, userId, roles }: Caller): Asker => ({ actor, userId, roles });

/** The caller's org. Throws `unauthenticated` for a caller without one. */
export function orgOf(caller: Caller): string {
  if (!UUID.test(caller.org))
    throw new Problem('unauthenticated', 'The credential belongs to no organization');
  return caller.org;
}

/** The details that an edit gives; what was not given stays as it is. */
export function detailsOf(input: Omit<UpdateTaskInput, 'task_id' | 'fence'>): Partial<TaskDetails> {
  const given: Partial<TaskDetails> = {
    title: input.title,
    description: input.description,
    acceptance: input.acceptance,
    agentId: input.agent_id,
    modelId: input.model_id,
    maxSteps: input.max_steps,
    blockedBy: input.blocked_by && [...new Set(input.blocked_by)],
    reviewPlan: input.review_plan,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
