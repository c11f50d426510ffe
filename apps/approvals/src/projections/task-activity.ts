import { taskSummary } from '@runyard/contracts';
import type { ActivityTopic, BoardEvent, TaskEvent } from '@runyard/contracts';
import type { ActivityLine, LinesOf } from './activity-lines';

type Told = Exclude<TaskEvent | BoardEvent, { type: 'ColumnRanked' }>;

/** What a task's own page says of the event, under a topic of the feed. */
const told =
  (topic: ActivityTopic, kind: string) =>
  (event: Told): ActivityLine | null => {
    const summary = taskSummary(event);
    if (summary === null) return null;
    const { data } = event;
    const task_id = 'taskId' in data ? data.taskId : undefined;
    const agentId = 'details' in data ? data.details.agentId : undefined;
    return {
      topic,
      kind: `task.${kind}`,
      summary,
      ...(task_id !== undefined && { subject: task_id }),
      facts: { owner_id: data.userId, ...(agentId !== undefined && { agent_id: agentId }) },
    };
  };

/** Board, locks, starts, ends and controls of tasks; phases and steps are runs, which have entries of their own. */
export const TASK_LINES: LinesOf<TaskEvent | BoardEvent> = {
  TaskCreated: told('board', 'created'),
  TaskEdited: told('board', 'edited'),
  TaskStepsEdited: told('board', 'plan_edited'),
  TaskDeleted: told('board', 'deleted'),
  TaskErased: (_event, id) => ({
    topic: 'board',
    kind: 'task.erased',
    summary: 'erased the task; nothing of its content is left',
    forgets: [id],
  }),
  CardMoved: told('board', 'moved'),
  TaskLockAcquired: told('locks', 'locked'),
  TaskLockReleased: told('locks', 'unlocked'),
  TaskStarted: told('starts', 'started'),
  TaskHeld: told('starts', 'held'),
  TaskNeedsInput: told('decisions', 'needs_input'),
  TaskReviewAwaited: told('decisions', 'review_awaited'),
  TaskVerified: told('decisions', 'verified'),
  TaskStopRequested: told('controls', 'stop_requested'),
  TaskCompleted: told('ends', 'completed'),
  TaskFailed: told('ends', 'failed'),
  TaskCancelled: told('ends', 'cancelled'),
};
