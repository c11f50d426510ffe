import type { PlannedStep, TaskAttention, TaskEvent, TaskPhase, TaskStatus } from '@runyard/contracts';
import type { LiveTask, Task, TaskStep, Told } from './task';

export function evolveTask(task: Task, event: TaskEvent): Task {
  if (event.type === 'TaskCreated') return born(event.data);
  if (event.type === 'TaskDeleted' || event.type === 'TaskErased') return { situation: 'deleted' };
  return task.situation === 'live' ? change(task, event) : task;
}

function born({ details, column, userId }: Extract<TaskEvent, { type: 'TaskCreated' }>['data']): LiveTask {
  return {
    situation: 'live',
    userId,
    details,
    column,
    status: 'pending',
    phase: null,
    steps: [],
    round: 1,
    accepted: false,
    stepsUsed: 0,
    requests: 0,
    runIds: [],
    active: null,
    deferredUntil: null,
    tries: 0,
    busy: 0,
    complaint: null,
    stopping: false,
    attention: null,
    automaticStarts: 0,
    note: null,
    fence: 0,
    lock: null,
    report: null,
  };
}

const FRESH = { tries: 0, busy: 0, complaint: null };
const AT_REST = { active: null, deferredUntil: null, stopping: false, attention: null };
const toDo = (steps: readonly PlannedStep[]): TaskStep[] =>
  steps.map(({ title, detail }) => ({ title, detail, status: 'pending', result: null }));

/** The task after an event. */
export function change(task: LiveTask, event: Told): LiveTask {
  return {
    ...task,
    ...changeOfContent(task, event),
    ...changeOfWork(task, event),
    ...changeOfStatus(task, event),
  };
}

function changeOfContent(task: LiveTask, event: Told): Partial<LiveTask> {
  switch (event.type) {
    case 'TaskOwnerCleared':
      return { userId: null };
    case 'TaskEdited':
      return { details: event.data.details };
    case 'TaskStepsEdited':
      return { steps: toDo(event.data.steps), accepted: false };
    case 'TaskPlanned':
      return { steps: toDo(event.data.steps), ...FRESH };
    case 'TaskStepFinished': {
      const { step, status, result } = event.data;
      return { steps: withStep(task, step, { status, result }), ...FRESH };
    }
    case 'TaskVerified': {
      const { accepted, redo, reason, round } = event.data;
      if (accepted) return { accepted, ...FRESH };
      const steps = task.steps.map((step, i) =>
        redo.includes(i + 1) ? { ...step, status: 'pending' as const } : step,
      );
      return { steps, round: round + 1, ...FRESH, complaint: reason };
    }
    case 'TaskLockAcquired': {
      const { fence, lockId, holder, expiresAt } = event.data;
      return { fence, lock: { fence, lockId, holder, expiresAt } };
    }
    case 'TaskLockRenewed':
      return { lock: task.lock && { ...task.lock, expiresAt: event.data.expiresAt } };
    case 'TaskLockReleased':
      return { lock: null };
    default:
      return {};
  }
}

function changeOfWork(task: LiveTask, event: Told): Partial<LiveTask> {
  switch (event.type) {
    case 'TaskStopRequested':
      return { stopping: true };
    case 'TaskPhaseRequested': {
      const { phase, step, number, runId } = event.data;
      const steps = step === null ? task.steps : withStep(task, step, { status: 'running' });
      const runIds = [...task.runIds, runId];
      return { phase, requests: number, runIds, active: event.data, deferredUntil: null, steps };
    }
    case 'TaskPhaseDeferred': {
      const { until, code } = event.data;
      const count = code === 'already_running' ? { busy: task.busy + 1 } : { tries: task.tries + 1 };
      return { deferredUntil: until, ...count };
    }
    case 'TaskPhaseEnded':
      return { active: null, stepsUsed: task.stepsUsed + event.data.steps };
    case 'TaskAnswerRefused':
      return { tries: task.tries + 1, complaint: event.data.detail };
    case 'TaskRunForgotten':
      return { runIds: task.runIds.filter((runId) => runId !== event.data.runId) };
    default:
      return {};
  }
}

function changeOfStatus(task: LiveTask, event: Told): Partial<LiveTask> {
  switch (event.type) {
    case 'TaskStarted':
      return started(task, event.data);
    case 'TaskHeld': {
      const { waitsFor, note } = event.data;
      return { ...waiting(task, 'blocked', `Waits for ${waitsFor.join(', ')}`), note: note ?? task.note };
    }
    case 'TaskNeedsInput':
      return waiting(task, 'needs_input', event.data.question);
    case 'TaskReviewAwaited':
      return {
        attention: { kind: 'plan_review', text: 'The plan waits for a look; start the task to go on' },
      };
    case 'TaskCompleted':
      return { ...AT_REST, status: 'completed', report: event.data.report };
    case 'TaskFailed':
      return { ...AT_REST, ...broken(task, 'failed'), status: 'failed' };
    case 'TaskCancelled':
      return { ...AT_REST, ...broken(task, 'cancelled'), status: 'cancelled' };
    default:
      return {};
  }
}

const waiting = (task: LiveTask, kind: TaskAttention, text: string): Partial<LiveTask> => ({
  ...AT_REST,
  ...broken(task, 'pending'),
  status: 'pending',
  attention: { kind, text },
});

/** What was broken off is to be done again; what is done stays done. */
function started(
  task: LiveTask,
  { phase, automatic, note }: { phase: TaskPhase; automatic: boolean; note: string | null },
): Partial<LiveTask> {
  return {
    ...AT_REST,
    ...FRESH,
    complaint: task.complaint,
    phase,
    status: 'running',
    steps: task.steps.map((step) => (step.status === 'completed' ? step : { ...step, status: 'pending' })),
    automaticStarts: automatic ? task.automaticStarts + 1 : 0,
    note: note ?? task.note,
  };
}

/** A step that was under way when the work ended is what the end makes of it. */
const broken = (task: LiveTask, status: TaskStatus): Pick<LiveTask, 'steps'> => ({
  steps: task.steps.map((step) => (step.status === 'running' ? { ...step, status } : step)),
});

const withStep = (task: LiveTask, number: number, now: Partial<TaskStep>): TaskStep[] =>
  task.steps.map((step, i) => (i + 1 === number ? { ...step, ...now } : step));
