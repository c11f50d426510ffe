import { randomUUID } from 'node:crypto';
import type {
  Caller,
  Extension,
  ForkChanges,
  IntakeAnswer,
  OriginRequest,
  RunRequest,
} from '@runyard/contracts';
import { Problem, REPLY_HEADER, requestSubject } from '@runyard/contracts';
import type { BoundsInput, ContinuedDecision, Mode, RunEvent } from '@runyard/contracts';
import { digestOf, runIdOf } from '@runyard/event-log';
import type { NatsConnection, WorkQueues } from '@runyard/event-log';
import { problemOf } from '@runyard/service';
import { wholeText } from '../domain/material';
import type { RunLog } from './run-log.adapter';

/** Intake's answer is waited for this long; the request is stored all the same. */
const PATIENCE_MS = 2_000;

export interface SuccessorPorts {
  runs: RunLog;
  queues: Pick<WorkQueues, 'publish'>;
  connection: Pick<NatsConnection, 'subscribe'>;
}

/** A run that begins with another one. */
export interface Successor {
  run_id: string;
  source_run_id: string;
  /** Null where the request is stored, but intake has not answered yet. */
  state: string | null;
  reason: string | null;
  position: string | null;
  created: boolean | null;
}

/** What a fork may say beside what it changes. */
export interface ForkWish extends ForkChanges {
  bounds?: BoundsInput;
  mode?: Mode;
}

/**
 * Asks intake for runs that begin with others: each is an ordinary request under a key that names the source, so saying it
 * again names the same run for ever.
 */
export class Successors {
  constructor(private readonly ports: SuccessorPorts) {}

  async fork(caller: Caller, runId: string, wish: ForkWish, key: string = randomUUID()): Promise<Successor> {
    const { input, bounds, mode, ...changes } = wish;
    const origin: OriginRequest = {
      kind: 'fork',
      run_id: runId,
      says_input: input !== undefined,
      ...changes,
    };
    const more = {
      ...(input === undefined ? {} : { input }),
      ...(bounds && { bounds }),
      ...(mode && { mode }),
    };
    return this.ask(caller, origin, 'fork', `fork-${keyOf(caller.actor, runId, key)}`, more);
  }

  retry(caller: Caller, runId: string, key: string = randomUUID()): Promise<Successor> {
    const trigger = caller.userId === null ? 'requested' : 'manual';
    return this.ask(
      caller,
      { kind: 'retry', run_id: runId },
      trigger,
      `retry-${keyOf(caller.actor, runId, key)}`,
    );
  }

  /** A run that stopped for its budget goes on once; asked again with other amounts it is refused. */
  extend(caller: Caller, runId: string, extend: Extension): Promise<Successor> {
    const origin: OriginRequest = { kind: 'continuation', run_id: runId, extend };
    return this.ask(caller, origin, 'continuation', `continuation-${runId}`);
  }

  /** A run that stopped for want of a decision goes on with it, once a question (P5.5). */
  async decide(caller: Caller, runId: string, decision: ContinuedDecision): Promise<Successor> {
    requireReviewer(caller);
    const origin: OriginRequest = { kind: 'continuation', run_id: runId, decision };
    return this.ask(caller, origin, 'continuation', `continuation-${decision.approval_id}`);
  }

  private async ask(
    caller: Caller,
    origin: OriginRequest,
    trigger: RunRequest['trigger'],
    key: string,
    more: Partial<RunRequest> = {},
  ): Promise<Successor> {
    const source = await this.source(caller.org, origin.run_id);
    const talk = origin.kind === 'fork' ? null : source.conversationId;
    const request: RunRequest = {
      agent_id: source.agentId,
      input: source.input,
      ...(talk === null ? {} : { conversation_id: talk }),
      ...more,
      key,
      trigger,
      origin,
      requested_by: caller.actor,
    };
    const answer = await this.send(caller.org, request);
    const named = { run_id: runIdOf(caller.org, key), source_run_id: origin.run_id };
    if (!answer) return { ...named, state: null, reason: null, position: null, created: null };
    if (!answer.ok) throw problemOf(answer);
    const { state, reason, position, created } = answer;
    return { ...named, state, reason, position, created };
  }

  private async source(org: string, runId: string) {
    const { events, material } = await this.ports.runs.loadWhole(org, runId);
    const queued = events.find(
      (event): event is Extract<RunEvent, { type: 'RunQueued' }> => event.type === 'RunQueued',
    );
    if (!queued) throw new Problem('run_not_controllable', 'The run never began; start it anew.', {});
    const { agentId, conversationId, input } = queued.data;
    return { agentId, conversationId, input: wholeText(input, material) };
  }

  /** The inbox is there before the request is: a fast answer would be lost. */
  private async send(org: string, request: RunRequest): Promise<IntakeAnswer | undefined> {
    const inbox = `_INBOX.${randomUUID().replaceAll('-', '')}`;
    let settle: (answer: IntakeAnswer | undefined) => void = () => undefined;
    const answered = new Promise<IntakeAnswer | undefined>((resolve) => (settle = resolve));
    const subscription = this.ports.connection.subscribe(inbox, {
      max: 1,
      callback: (error, message) => settle(error ? undefined : message.json<IntakeAnswer>()),
    });
    const timer = setTimeout(() => settle(undefined), PATIENCE_MS);
    try {
      await this.ports.queues.publish(requestSubject(org), request, { [REPLY_HEADER]: inbox });
      return await answered;
    } finally {
      clearTimeout(timer);
      subscription.unsubscribe();
    }
  }
}

/** Keys of callers may be as long as a request's whole key. */
const keyOf = (actor: string, runId: string, key: string): string => digestOf([actor, runId, key]);

/** Decisions are people's, and of those who may decide. */
function requireReviewer({ userId, roles }: Caller): void {
  if (userId !== null && (roles.includes('reviewer') || roles.includes('admin'))) return;
  throw new Problem(
    'forbidden',
    'Only a person who is reviewer or admin may continue a run with a decision.',
    {
      required_role: 'reviewer',
    },
  );
}
