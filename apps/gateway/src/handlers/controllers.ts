import { RouteTable, routesOf } from '../door/route';
import { ActivityController } from './activity.controller';
import { AgentVersionsController } from './agent-versions.controller';
import { AgentsController } from './agents.controller';
import { ApprovalsController } from './approvals.controller';
import { BudgetsController } from './budgets.controller';
import { BulkActionsController } from './bulk-actions.controller';
import { CatalogueController } from './catalogue.controller';
import { ConversationsController } from './conversations.controller';
import { DocumentsController } from './documents.controller';
import { GroupsController } from './groups.controller';
import { KeysController } from './keys.controller';
import { KnowledgeController } from './knowledge.controller';
import { PeopleController } from './people.controller';
import { PermissionRulesController } from './permission-rules.controller';
import { RunCancellationController } from './run-cancellation.controller';
import { RunStreamController } from './run-stream.controller';
import { RunSuccessorsController } from './run-successors.controller';
import { RunsController } from './runs.controller';
import { SchedulesController } from './schedules.controller';
import { TaskLocksController } from './task-locks.controller';
import { TaskStreamController } from './task-stream.controller';
import { TaskWorkController } from './task-work.controller';
import { TasksController } from './tasks.controller';

/** All controllers of the gateway; a route that is in none of them does not exist. */
export const CONTROLLERS = [
  RunStreamController,
  RunsController,
  RunCancellationController,
  RunSuccessorsController,
  BulkActionsController,
  ConversationsController,
  AgentsController,
  AgentVersionsController,
  SchedulesController,
  ApprovalsController,
  PermissionRulesController,
  TaskStreamController,
  TasksController,
  TaskLocksController,
  TaskWorkController,
  ActivityController,
  BudgetsController,
  CatalogueController,
  PeopleController,
  KeysController,
  KnowledgeController,
  GroupsController,
  DocumentsController,
];

export const routeTable = (): RouteTable => new RouteTable(CONTROLLERS.flatMap(routesOf));
