import { REPLY_HEADER, subjectOf } from '@runyard/contracts';
import type { NewEvent, RunRequest } from '@runyard/contracts';
import { runIdOf } from '@runyard/event-log';
import type { Harness } from './harness';

/** Spec-only. The executor's side of the queue of requests, and the events of runs that it would write. */

/** Events of a short run; content is what a spec needs, not what an executor would say. */
export const runEvents = {
  queued: { type: 'RunQueued', data: { agentId: 'helper', input: { text: 'hello' } } },
  started: { type: 'RunStarted', data: { epoch: 1, instance: 'spec' } },
  turn: (step: number, text = '') => ({ type: 'ModelTurnCompleted', data: { step, text: { text } } }),
  succeeded: { type: 'RunSucceeded', data: { output: { text: 'done' } } },
  skipped: { type: 'RunSkipped', data: { reason: 'already_running', holder: null } },
} satisfies Record<string, NewEvent | ((step: number, text?: string) => NewEvent)>;

/** Intake as the executor does it: the same key is the same run; another body is refused. Starts each run and leaves it open. */
export async function fakeIntake(
  harness: Harness,
  decide: (request: RunRequest, runId: string) => NewEvent[] = () => [runEvents.queued],
) {
  const bodies = new Map<string, string>();
  const { queues, log } = harness.bus;
  return queues.consume({
    queue: 'REQUESTS',
    durable: 'spec-intake',
    concurrency: 8,
    handler: async (message) => {
      const org = message.subject.split('.')[2] ?? '';
      const request = JSON.parse(Buffer.from(message.body).toString('utf8')) as RunRequest;
      const runId = runIdOf(org, request.key);
      const answer = (body: unknown) =>
        harness.connection.publish(message.headers[REPLY_HEADER] ?? 'nobody', JSON.stringify(body));
      const body = JSON.stringify([request.agent_id, request.input]);
      const known = bodies.get(runId);
      if (known !== undefined && known !== body)
        return answer({
          ok: false,
          code: 'idempotency_key_reused',
          message: 'This key was used for another request',
          facts: { run_id: runId },
        });
      bodies.set(runId, body);
      const created = known === undefined;
      if (created) {
        const events = decide(request, runId);
        if (events.length === 0)
          return answer({
            ok: false,
            code: 'agent_disabled',
            message: 'The agent is switched off',
            facts: {},
          });
        await harness.append(org, runId, ...events);
      }
      const sequence = await log.lastSequence(subjectOf('runs', org, runId));
      answer({ ok: true, run_id: runId, state: 'queued', reason: null, position: `${sequence}.0`, created });
    },
  });
}
