import type { BoardEvent } from './board.events';
import type { TaskEvent } from './task.events';

/** One line for people about an event, without what a task says; null: nothing that anybody wants to read of. */
export function taskSummary(event: TaskEvent | BoardEvent): string | null {
  switch (event.type) {
    case 'TaskCreated':
      return `put the task on the board, in ${event.data.column}`;
    case 'TaskEdited':
      return 'changed the task';
    case 'TaskStepsEdited':
      return `changed the plan to ${event.data.steps.length} steps`;
    case 'TaskOwnerCleared':
      return 'left the task to the admins, since its owner was deleted';
    case 'TaskDeleted':
      return 'deleted the task';
    case 'TaskLockAcquired':
      return event.data.superseded
        ? `took the lock over from ${event.data.superseded.holder}`
        : 'locked the task';
    case 'TaskLockReleased':
      return 'released the lock';
    case 'TaskStarted':
      return event.data.automatic
        ? 'started the task, since what it waited for is completed'
        : 'started the task';
    case 'TaskHeld':
      return `holds the task until ${event.data.waitsFor.length} others are completed`;
    case 'TaskNeedsInput':
      return event.data.escalated
        ? 'asks for a person: the task is blocked by no open task'
        : 'asks for a person';
    case 'TaskStopRequested':
      return 'stops the task';
    case 'CardMoved':
      return event.data.from === event.data.column
        ? `moved the card within ${event.data.column}`
        : `moved the card from ${event.data.from} to ${event.data.column}`;
    default:
      return summaryOfWork(event);
  }
}

function summaryOfWork(event: TaskEvent | BoardEvent): string | null {
  switch (event.type) {
    case 'TaskPhaseRequested': {
      const { phase, step } = event.data;
      return step === null ? `began to ${phase}` : `began step ${step}`;
    }
    case 'TaskPhaseDeferred':
      return `will ask again (${event.data.code})`;
    case 'TaskAnswerRefused':
      return 'could not use an answer';
    case 'TaskPlanned':
      return `planned ${event.data.steps.length} steps`;
    case 'TaskReviewAwaited':
      return 'waits for a look at the plan';
    case 'TaskStepFinished':
      return `step ${event.data.step} ${event.data.status}`;
    case 'TaskVerified':
      return event.data.accepted ? 'accepted the result' : `sent steps ${event.data.redo.join(', ')} back`;
    case 'TaskCompleted':
      return event.data.byHand ? 'completed the task by hand' : 'completed the task';
    case 'TaskFailed':
      return `failed (${event.data.reason})`;
    case 'TaskCancelled':
      return 'cancelled the task';
    default:
      return null;
  }
}
