import {
  Problem,
  REPLY_HEADER,
  RUN_EVENTS,
  requestSubject,
  subjectOf,
  taskAnswerSubject,
  taskRequester,
  taskRunKey,
} from '@runyard/contracts';
import type { Caller, PhaseRequest, RunEvent, RunRequest, StoredText } from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import type { EventLog, WorkQueues } from '@runyard/event-log';
import type { RpcClient } from '@runyard/service';
import type { RunOutcome } from '../domain/task-commands';
import { SOURCE } from './tasks-log.adapter';

/** Reads a large text of an org; null: it was erased. */
export type ReadText = (org: string, digest: string) => Promise<string | null>;

/** Only a run that has ended has an outcome; one that the log does not know was never queued. */
export type RunStanding = { standing: 'unknown' | 'unfinished' } | { standing: 'ended'; outcome: RunOutcome };

type Terminal = Extract<RunEvent, { type: 'RunSucceeded' | 'RunFailed' | 'RunCancelled' | 'RunSkipped' }>;

/** What tasks ask of runs and hear of them. The only file here that knows their events. */
export class Runs {
  constructor(
    private readonly log: Pick<EventLog, 'read'>,
    private readonly queues: Pick<WorkQueues, 'publish'>,
    private readonly rpc: RpcClient,
  ) {}

  /** The request is made of the event alone, so that it is the same whoever sends it and how often: one key, one run. */
  async request(org: string, taskId: string, wanted: PhaseRequest): Promise<void> {
    const request: RunRequest = {
      agent_id: wanted.agentId,
      key: taskRunKey(taskId, wanted.number),
      input: wanted.input,
      bounds: { max_steps: wanted.maxSteps },
      trigger: 'task',
      requested_by: taskRequester(taskId),
      ...(wanted.mode === null ? {} : { mode: wanted.mode }),
      ...(wanted.modelId === null ? {} : { model_id: wanted.modelId }),
    };
    await this.queues.publish(requestSubject(org), request, {
      [REPLY_HEADER]: taskAnswerSubject(org, taskId, wanted.number),
    });
  }

  /** Asks the run to end. One that has ended, or that nobody has heard of yet, is asked again by the watch. */
  async cancel(org: string, runId: string): Promise<void> {
    const caller: Caller = { org, actor: `system:${SOURCE}`, userId: null, roles: ['operator'] };
    try {
      await this.rpc.call('run-executor', 'runs.cancel', caller, { run_id: runId });
    } catch (error) {
      const passing = ['run_not_controllable', 'not_found', 'unavailable', 'conflict'];
      if (!(error instanceof Problem) || !passing.includes(error.code)) throw error;
    }
  }

  async standing(org: string, runId: string, readText: ReadText): Promise<RunStanding> {
    const commits = await this.log.read(subjectOf('runs', org, runId));
    if (commits.length === 0) return { standing: 'unknown' };
    const events = commits.flatMap((commit) => decodeEvents(commit, RUN_EVENTS).events as RunEvent[]);
    const end = events.find(isTerminal);
    if (!end) return { standing: 'unfinished' };
    const output = end.type === 'RunSucceeded' ? end.data.output : null;
    const text = output && (await whole(org, output, readText));
    return { standing: 'ended', outcome: { runId, ...endOf(end), ...spentBy(events, end), output, text } };
  }
}

const isTerminal = (event: RunEvent): event is Terminal =>
  event.type === 'RunSucceeded' ||
  event.type === 'RunFailed' ||
  event.type === 'RunCancelled' ||
  event.type === 'RunSkipped';

const whole = async (org: string, stored: StoredText, readText: ReadText): Promise<string | null> =>
  'text' in stored ? stored.text : readText(org, stored.digest);

function endOf(end: Terminal): Pick<RunOutcome, 'state' | 'reason' | 'error'> {
  switch (end.type) {
    case 'RunSucceeded':
      return { state: 'succeeded', reason: null, error: '' };
    case 'RunFailed':
      return { state: 'failed', reason: end.data.reason, error: end.data.error.text.slice(0, 2_000) };
    case 'RunCancelled':
      return {
        state: 'cancelled',
        reason: end.data.reason,
        error: `The run was cancelled (${end.data.reason})`,
      };
    case 'RunSkipped':
      return { state: 'skipped', reason: end.data.reason, error: `The run was skipped (${end.data.reason})` };
    default:
      return end satisfies never;
  }
}

/** Turns that the run made itself, and all tokens of its tree where its end names them. */
function spentBy(events: readonly RunEvent[], end: Terminal): Pick<RunOutcome, 'steps' | 'tokens'> {
  const tokens = { input: 0, output: 0, cached: 0 };
  let steps = 0;
  for (const event of events) {
    if (event.type !== 'ModelTurnCompleted' && event.type !== 'ModelCallFailed') continue;
    if (event.type === 'ModelTurnCompleted') steps++;
    tokens.input += event.data.usage.input;
    tokens.output += event.data.usage.output;
    tokens.cached += event.data.usage.cached;
  }
  const children = 'spend' in end.data ? childrenOf(end.data.spend) : 0;
  return { steps, tokens: { ...tokens, total: tokens.input + tokens.output + children } };
}

const childrenOf = (spend: unknown): number =>
  typeof spend === 'object' && spend !== null && 'children' in spend && typeof spend.children === 'number'
    ? spend.children
    : 0;
