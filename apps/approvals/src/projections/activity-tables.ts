import type {
  AgentEvent,
  ApprovalEvent,
  BoardEvent,
  PermissionEvent,
  RunErased,
  RunEvent,
  TaskEvent,
} from '@runyard/contracts';
import type { Projection } from '@runyard/persistence';
import { activityProjection } from './activity.projection';
import { AGENT_LINES } from './agent-activity';
import { APPROVAL_LINES } from './approval-activity';
import { RUN_LINES } from './run-activity';
import { TASK_LINES } from './task-activity';

/** The feed's tables, one a stream, so that each is a projection of its stream alone. */
export const ACTIVITY_TABLES = {
  RUNS: 'activity_runs',
  APPROVALS: 'activity_approvals',
  TASKS: 'activity_tasks',
  AGENTS: 'activity_agents',
} as const;

export const ACTIVITY_PROJECTIONS: readonly { projection: Projection; table: string }[] = [
  {
    table: ACTIVITY_TABLES.RUNS,
    projection: activityProjection<RunEvent | RunErased>({
      name: 'activity-runs',
      stream: 'RUNS',
      table: ACTIVITY_TABLES.RUNS,
      lines: RUN_LINES,
      own: 'run_id',
    }),
  },
  {
    table: ACTIVITY_TABLES.APPROVALS,
    projection: activityProjection<ApprovalEvent | PermissionEvent>({
      name: 'activity-approvals',
      stream: 'APPROVALS',
      table: ACTIVITY_TABLES.APPROVALS,
      lines: APPROVAL_LINES,
    }),
  },
  {
    table: ACTIVITY_TABLES.TASKS,
    projection: activityProjection<TaskEvent | BoardEvent>({
      name: 'activity-tasks',
      stream: 'TASKS',
      table: ACTIVITY_TABLES.TASKS,
      lines: TASK_LINES,
      own: 'task_id',
    }),
  },
  {
    table: ACTIVITY_TABLES.AGENTS,
    projection: activityProjection<AgentEvent>({
      name: 'activity-agents',
      stream: 'AGENTS',
      table: ACTIVITY_TABLES.AGENTS,
      lines: AGENT_LINES,
      own: 'agent_id',
    }),
  },
];
