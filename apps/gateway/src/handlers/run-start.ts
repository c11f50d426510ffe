import { randomUUID } from 'node:crypto';
import { Problem } from '@runyard/contracts';
import type { IntakeAnswer } from '@runyard/contracts';
import { runIdOf } from '@runyard/event-log';
import { problemOf } from '@runyard/service';
import type { Call } from '../door/call';
import { idempotencyKeyOf } from '../idempotency/fingerprint';
import type { StartRunBody } from './run-inputs';
import type { RunRequests } from './run-requests.adapter';
import type { Services } from './services.adapter';

/** A request that intake has accepted, or has not answered yet. */
export interface StartedRun {
  run_id: string;
  state: string | null;
  reason: string | null;
  position: string | null;
  /** False where the key named this run before. */
  created: boolean | null;
}

/** Starts runs by publishing requests; what becomes of them is intake's decision. */
export class RunStart {
  constructor(
    private readonly requests: RunRequests,
    private readonly services: Services,
  ) {}

  /** Throws the Problem that intake answered. */
  async start(call: Call, { purpose, ...body }: StartRunBody): Promise<StartedRun> {
    const { caller } = call;
    if (body.conversation_id !== undefined && caller.userId !== null)
      await this.requireConversation(call, body.conversation_id);
    const key = idempotencyKeyOf(call.headers['idempotency-key']) ?? randomUUID();
    const answer = await this.requests.send(caller.org, {
      ...body,
      key,
      trigger: purpose ?? (caller.userId === null ? 'requested' : 'manual'),
      requested_by: caller.actor,
    });
    return startedOf(answer, runIdOf(caller.org, key));
  }

  /** A run sees what was said before in its conversation, so its caller must be allowed to. A new id is nobody's yet. */
  private async requireConversation(call: Call, conversationId: string): Promise<void> {
    try {
      await this.services.conversation(call, conversationId);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'not_found') throw error;
    }
  }
}

function startedOf(answer: IntakeAnswer | undefined, runId: string): StartedRun {
  if (!answer) return { run_id: runId, state: null, reason: null, position: null, created: null };
  if (!answer.ok) throw problemOf(answer);
  const { run_id, state, reason, position, created } = answer;
  return { run_id, state, reason, position, created };
}

/** Seconds of `Prefer: wait=N` (RFC 7240), bounded; undefined where the client does not want to wait. */
export function preferredWait(header: string | undefined, mostSeconds: number): number | undefined {
  const match = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?(?:$|[,;\s])/i.exec(header ?? '');
  const seconds = Number(match?.[1] ?? 0);
  return seconds > 0 ? Math.min(seconds, mostSeconds) : undefined;
}
