import { PROBLEMS, Problem } from '@runyard/contracts';
import { Answer } from '../door/call';
import type { Call } from '../door/call';
import { toProblem } from '../problems/problem-document';
import type { AnswerStore, KeptAnswer, KeyScope } from './answer-store';
import { fingerprintOf, idempotencyKeyOf } from './fingerprint';

/** Seconds after which a client asks again for an answer that is being made. */
const IN_PROGRESS_SECONDS = 1;

/**
 * Answers a repeated POST (same caller, route and Idempotency-Key) as the first time, for 24 hours. What the platform
 * decided is kept, refusals included; what it could not decide (5xx, 429) is not, so that a retry can succeed.
 */
export class IdempotentCalls {
  constructor(
    private readonly store: AnswerStore,
    private readonly log: { warn(fields: object, message: string): void },
  ) {}

  /** Runs `work`, unless it was done before. Routes that declare nothing and requests without a key pass through. */
  async run(call: Call, body: unknown, work: () => Promise<Answer>): Promise<Answer> {
    const key =
      call.route.idempotency === 'replayed' ? idempotencyKeyOf(call.headers['idempotency-key']) : undefined;
    if (key === undefined) return work();
    const { caller, route, method, path, query } = call;
    const scope: KeyScope = { org: caller.org, caller: caller.actor, route: route.name, key };
    const fingerprint = fingerprintOf({ method, path, query, body });
    const taken = await this.store.take(scope, fingerprint);
    if (taken.state === 'in_progress')
      throw new Problem('request_in_progress', 'A request with this idempotency key is still being handled', {
        retryAfterSeconds: IN_PROGRESS_SECONDS,
      });
    if (taken.state === 'other_request')
      throw new Problem(
        'idempotency_key_mismatch',
        'This idempotency key was used for another request in the last 24 hours; use a new one',
      );
    if (taken.state === 'answered') return replayOf(taken.answer);
    return this.first(call, scope, fingerprint, work);
  }

  private async first(
    call: Call,
    scope: KeyScope,
    fingerprint: string,
    work: () => Promise<Answer>,
  ): Promise<Answer> {
    let answer: Answer;
    try {
      answer = await work();
    } catch (error) {
      await this.settle(() => this.keepRefusal(scope, fingerprint, toProblem(error)));
      throw error;
    }
    const { body, options } = answer;
    const status = options.status ?? call.route.success[0]?.status ?? 200;
    const kept = withoutShownOnce(body, call.route.shownOnce) ?? null;
    await this.settle(() =>
      this.store.keep(scope, fingerprint, {
        status,
        headers: options.headers ?? {},
        body: kept,
        problem: false,
      }),
    );
    return answer;
  }

  private keepRefusal(scope: KeyScope, fingerprint: string, problem: Problem): Promise<void> {
    const status = PROBLEMS[problem.code];
    if (status >= 500 || status === 429) return this.store.release(scope, fingerprint);
    const body = { code: problem.code, message: problem.message, facts: problem.facts };
    return this.store.keep(scope, fingerprint, { status, headers: {}, body, problem: true });
  }

  /** What was done is done: an answer that cannot be kept is still the answer. Its key frees itself after a minute. */
  private async settle(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.log.warn({ err: error }, 'the answer to an idempotent request could not be kept');
    }
  }
}

/** A secret that is shown once is not kept for a replay either (domain, section 1: keys are stored hashed). */
function withoutShownOnce(body: unknown, members: readonly string[] = []): unknown {
  if (typeof body !== 'object' || body === null) return body;
  return {
    ...body,
    ...Object.fromEntries(members.filter((name) => name in body).map((name) => [name, null])),
  };
}

const REPLAYED = { 'idempotency-replayed': 'true' };

function replayOf(kept: KeptAnswer): Answer {
  const { status, headers, body, problem } = kept;
  if (!problem) return new Answer(body, { status, headers: { ...headers, ...REPLAYED } });
  const { code, message, facts } = body as {
    code: keyof typeof PROBLEMS;
    message: string;
    facts: Record<string, unknown>;
  };
  throw new Problem(code, message, { ...facts, replayed: true });
}
