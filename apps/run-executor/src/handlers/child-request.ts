import type { RunRequest } from '@runyard/contracts';
import { childKey, DELEGATOR } from '@runyard/contracts';
import type { DelegatedCall } from '../domain/children';

/**
 * The request of the run that a call is: a function of the parent's log alone, so that whoever sends it again sends the
 * same, and intake can tell one that the log does not bear out.
 */
export const childRequest = (parentRunId: string, call: DelegatedCall): RunRequest => ({
  key: childKey(parentRunId, call.callId, call.child.attempt),
  agent_id: call.child.agentId,
  input: taskOf(call.arguments),
  trigger: 'delegated',
  requested_by: DELEGATOR,
  parent: { run_id: parentRunId, call_id: call.callId, attempt: call.child.attempt },
});

/** What the child is asked: the text of `task` where that is the only argument, otherwise all arguments as they were written. */
export function taskOf(raw: string): string {
  try {
    const value: unknown = JSON.parse(raw);
    if (typeof value !== 'object' || value === null) return raw;
    const [[name, task] = [], more] = Object.entries(value);
    if (name === 'task' && more === undefined && typeof task === 'string' && task.trim() !== '') return task;
  } catch {
    // Arguments were validated when the call was decided; blank ones mean an empty object.
  }
  return raw.trim() === '' ? '{}' : raw;
}
