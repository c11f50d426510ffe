import { isoTime } from '@runyard/contracts';
import type { PlannedStep, StoredText, TaskDetails, TaskEvent } from '@runyard/contracts';
import { cleanText } from '@runyard/persistence';
import type { ProjectedEvent } from '@runyard/persistence';
import { ended, forgotten, requested } from './task-run-rows';
import { withStep } from './task-rows';
import type { ImageChange, StepRecord, TaskImage, TaskRecord } from './task-rows';

type Recorded = ProjectedEvent<TaskEvent>;

const shown = (stored: StoredText): string => cleanText('text' in stored ? stored.text : stored.preview);
const digestOf = (stored: StoredText): string | null => ('text' in stored ? null : stored.digest);

/** The rows of a task after an event; null: it is gone, or was never there. */
export function imageAfter(image: TaskImage | undefined, recorded: Recorded): TaskImage | null {
  const { event, sequence, index } = recorded;
  if (event.type === 'TaskCreated') return born(recorded, event);
  if (!image || event.type === 'TaskDeleted' || event.type === 'TaskErased') return null;
  const { task, ...parts } = change(image, event);
  // Who locks a task, changes nothing about it.
  const touched = event.type.startsWith('TaskLock') ? {} : { updated_at: isoTime(event.time) };
  return {
    ...image,
    ...parts,
    task: { ...image.task, ...task, ...touched, position: `${sequence}.${index}` },
  };
}

function born(
  { org, aggregate, sequence, index }: Recorded,
  event: Extract<TaskEvent, { type: 'TaskCreated' }>,
): TaskImage {
  const { details, column, userId } = event.data;
  const at = isoTime(event.time);
  const task: TaskRecord = {
    org_id: org,
    task_id: aggregate,
    user_id: userId,
    created_by: event.actor,
    status: 'pending',
    steps_used: 0,
    phase: null,
    current_step: null,
    round: 1,
    report: null,
    report_digest: null,
    latest_run_id: null,
    board_column: column,
    board_rank: null,
    ...AT_REST,
    ...NO_END,
    ...detailColumns(details),
    created_at: at,
    updated_at: at,
    started_at: null,
    position: `${sequence}.${index}`,
  };
  return { task, steps: [], lock: null, runs: [] };
}

const AT_REST = {
  active_number: null,
  requested_at: null,
  retry_at: null,
  stopping: false,
  attention: null,
  attention_text: null,
};
const NO_END = { ended_at: null, reason: null, reason_text: null };

const detailColumns = (details: TaskDetails) => ({
  title: details.title,
  description: details.description,
  acceptance: details.acceptance,
  agent_id: details.agentId,
  model_id: details.modelId,
  max_steps: details.maxSteps,
  blocked_by: details.blockedBy,
  review_plan: details.reviewPlan,
});

const planned = (steps: readonly PlannedStep[]): StepRecord[] =>
  steps.map(({ title, detail }, i) => ({
    seq: i + 1,
    title: cleanText(title),
    detail: cleanText(detail),
    status: 'pending',
    result: null,
    run_id: null,
  }));

/** A step that was under way when the work ended is what the end makes of it. */
const broken = ({ steps }: TaskImage, status: string): StepRecord[] =>
  steps.map((step) => (step.status === 'running' ? { ...step, status } : step));

function change(image: TaskImage, event: TaskEvent): ImageChange {
  switch (event.type) {
    case 'TaskEdited':
      return { task: detailColumns(event.data.details) };
    case 'TaskStepsEdited':
    case 'TaskPlanned':
      return { steps: planned(event.data.steps) };
    case 'TaskLockAcquired': {
      const { fence, lockId: lock_id, holder, expiresAt } = event.data;
      return { lock: { fence, lock_id, holder, expires_at: isoTime(expiresAt) } };
    }
    case 'TaskLockRenewed':
      return { lock: image.lock && { ...image.lock, expires_at: isoTime(event.data.expiresAt) } };
    case 'TaskLockReleased':
      return { lock: null };
    case 'TaskPhaseRequested':
      return requested(image, event.data, isoTime(event.time));
    case 'TaskPhaseDeferred':
      return { task: { retry_at: isoTime(event.data.until) } };
    case 'TaskPhaseEnded':
      return ended(image, event.data, isoTime(event.time));
    case 'TaskRunForgotten':
      return forgotten(image, event.data.runId);
    case 'TaskStepFinished': {
      const { step, status, result } = event.data;
      return { steps: withStep(image, step, { status, result: result && shown(result) }) };
    }
    case 'TaskVerified': {
      const { accepted, redo, round } = event.data;
      if (accepted) return {};
      const steps = image.steps.map((step) =>
        redo.includes(step.seq) ? { ...step, status: 'pending' } : step,
      );
      return { steps, task: { round: round + 1 } };
    }
    default:
      return changeOfStatus(image, event);
  }
}

function changeOfStatus(image: TaskImage, event: TaskEvent): ImageChange {
  const waiting = (attention: string, text: string): ImageChange => ({
    steps: broken(image, 'pending'),
    task: { ...AT_REST, ...NO_END, status: 'pending', attention, attention_text: cleanText(text) },
  });
  const over = (status: string, more: Partial<TaskRecord>): ImageChange => ({
    steps: broken(image, status),
    task: { ...AT_REST, status, ended_at: isoTime(event.time), ...more },
  });
  switch (event.type) {
    case 'TaskStarted': {
      const steps = image.steps.map((step) =>
        step.status === 'completed' ? step : { ...step, status: 'pending' },
      );
      const started_at = image.task.started_at ?? isoTime(event.time);
      return {
        steps,
        task: { ...AT_REST, ...NO_END, status: 'running', phase: event.data.phase, started_at },
      };
    }
    case 'TaskHeld':
      return waiting('blocked', `Waits for ${event.data.waitsFor.join(', ')}`);
    case 'TaskNeedsInput':
      return waiting('needs_input', event.data.question);
    case 'TaskReviewAwaited':
      return { task: { attention: 'plan_review', attention_text: 'The plan waits for a look' } };
    case 'TaskStopRequested':
      return { task: { stopping: true } };
    case 'TaskCompleted': {
      const { report } = event.data;
      return over('completed', { report: shown(report), report_digest: digestOf(report) });
    }
    case 'TaskFailed':
      return over('failed', { reason: event.data.reason, reason_text: cleanText(event.data.detail) });
    case 'TaskCancelled':
      return over('cancelled', { reason: event.data.reason });
    default:
      return event.type === 'TaskOwnerCleared' ? { task: { user_id: null } } : {};
  }
}
