import { taskOfRequester } from '@runyard/contracts';
import type { RunErased, RunEvent, RunExtended, RunQueued, RunSpend, RunSkipped } from '@runyard/contracts';
import { counted } from './activity-lines';
import type { ActivityFacts, LinesOf } from './activity-lines';

function factsOf({ data }: RunQueued | RunSkipped): Partial<ActivityFacts> {
  const { userId, requestedBy, agentId } = data;
  const task_id = taskOfRequester(requestedBy) ?? null;
  return { owner_id: userId, requested_by: requestedBy, agent_id: agentId, task_id };
}

const nameOf = ({ data }: RunQueued | RunSkipped): string =>
  `a run of ${data.agentId} v${data.agentVersion} (${data.trigger})`;

/** One line says what the run came to and cost. */
function spent(spend: RunSpend | undefined): string {
  if (!spend) return '';
  const calls = spend.lines.reduce((sum, line) => sum + line.calls, 0);
  const children = spend.children > 0 ? `, ${counted(spend.children, 'token')} of its subagents` : '';
  return `, after ${counted(calls, 'model call')} and ${counted(spend.own, 'token')}${children}`;
}

function raised({ data }: RunExtended): string {
  const amounts: [number, string][] = [
    [data.steps, 'step'],
    [data.toolCalls, 'tool call'],
    [data.tokens, 'token'],
    [data.seconds, 'second'],
  ];
  return amounts
    .filter(([amount]) => amount > 0)
    .map(([amount, what]) => `+${counted(amount, what)}`)
    .join(', ');
}

/** Starts, ends and controls of runs, and what rules and modes denied; steps of runs make no entries. */
export const RUN_LINES: LinesOf<RunEvent | RunErased> = {
  RunQueued: (event) => ({
    topic: 'starts',
    kind: 'run.queued',
    summary: `started ${nameOf(event)}`,
    actor: event.data.requestedBy,
    facts: factsOf(event),
  }),
  RunSkipped: (event) => ({
    topic: 'starts',
    kind: 'run.skipped',
    summary: `could not start ${nameOf(event)}: ${event.data.reason}`,
    actor: event.data.requestedBy,
    facts: factsOf(event),
  }),
  RunCancelRequested: ({ data }) => ({
    topic: 'controls',
    kind: 'run.cancel_requested',
    summary: `cancels the run (${data.reason})`,
  }),
  RunPauseRequested: () => ({
    topic: 'controls',
    kind: 'run.pause_requested',
    summary: 'pauses the run',
  }),
  RunResumed: () => ({ topic: 'controls', kind: 'run.resumed', summary: 'resumed the run' }),
  RunExtended: (event) => ({
    topic: 'controls',
    kind: 'run.extended',
    summary: `extended the run: ${raised(event)}`,
  }),
  RunModeSet: ({ data }) => ({
    topic: 'controls',
    kind: 'run.mode_set',
    summary: `set the run's mode to ${data.mode}`,
  }),
  ToolCallDenied: ({ data }) =>
    // A person's answer is an entry of its own, from the approvals' log.
    data.approvalId === undefined
      ? {
          topic: 'decisions',
          kind: 'run.call_denied',
          summary: `denied a call of ${data.tool} (${data.decision.ruleId ?? data.decision.decidedBy})`,
        }
      : null,
  RunSucceeded: ({ data }) => ({
    topic: 'ends',
    kind: 'run.succeeded',
    summary: `ended the run: succeeded${spent(data.spend)}`,
  }),
  RunFailed: ({ data }) => ({
    topic: 'ends',
    kind: 'run.failed',
    summary: `ended the run: failed, ${data.termination} / ${data.reason}${spent(data.spend)}`,
  }),
  RunCancelled: ({ data }) => ({
    topic: 'ends',
    kind: 'run.cancelled',
    summary: `ended the run: cancelled (${data.reason})${spent(data.spend)}`,
  }),
  RunDeleted: () => ({ topic: 'controls', kind: 'run.deleted', summary: 'deleted the run' }),
  RunErased: ({ data }) => ({
    topic: 'controls',
    kind: 'run.erased',
    summary: 'erased the run; nothing of its content is left',
    subject: data.runId,
    facts: { agent_id: data.agentId },
    forgets: [data.runId],
  }),
};
