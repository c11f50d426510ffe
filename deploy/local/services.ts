import type { DynamicModule } from '@nestjs/common';
import type { ServiceConfig } from '@runyard/service';
import { AgentRegistryModule } from '../../apps/agent-registry/src/agent-registry.module';
import { AGENT_REGISTRY_MIGRATIONS } from '../../apps/agent-registry/src/migrations';
import { ApprovalsModule } from '../../apps/approvals/src/approvals.module';
import { APPROVALS_DEFAULTS } from '../../apps/approvals/src/config';
import { APPROVALS_MIGRATIONS } from '../../apps/approvals/src/migrations';
import { BudgetLedgerModule } from '../../apps/budget-ledger/src/budget-ledger.module';
import { BUDGET_LEDGER_MIGRATIONS } from '../../apps/budget-ledger/src/migrations';
import { GATEWAY_MIGRATIONS } from '../../apps/gateway/src/migrations';
import { KnowledgeModule } from '../../apps/knowledge/src/knowledge.module';
import { KNOWLEDGE_MIGRATIONS } from '../../apps/knowledge/src/migrations';
import { RUN_MIGRATIONS } from '../../apps/run-executor/src/migrations';
import { SCHEDULER_DEFAULTS } from '../../apps/scheduler/src/config';
import { SCHEDULER_MIGRATIONS } from '../../apps/scheduler/src/migrations';
import { SchedulerModule } from '../../apps/scheduler/src/scheduler.module';
import { TASKS_DEFAULTS } from '../../apps/tasks/src/config';
import { TASKS_MIGRATIONS } from '../../apps/tasks/src/migrations';
import { TasksModule } from '../../apps/tasks/src/tasks.module';

/** Every service of the product and its schema's steps. */
export const SERVICES = [
  { service: 'agent-registry', migrations: AGENT_REGISTRY_MIGRATIONS },
  { service: 'knowledge', migrations: KNOWLEDGE_MIGRATIONS },
  { service: 'run-executor', migrations: RUN_MIGRATIONS },
  { service: 'scheduler', migrations: SCHEDULER_MIGRATIONS },
  { service: 'budget-ledger', migrations: BUDGET_LEDGER_MIGRATIONS },
  { service: 'approvals', migrations: APPROVALS_MIGRATIONS },
  { service: 'tasks', migrations: TASKS_MIGRATIONS },
  { service: 'gateway', migrations: GATEWAY_MIGRATIONS },
] as const;

/** Clocks of services, epoch ms, which tests move, and what runs elsewhere. */
export interface Clocks {
  schedulerClock?: () => number;
  ledgerClock?: () => number;
  approvalsClock?: () => number;
  /** False: the board runs in a process of its own. */
  hostsTasks?: boolean;
}

/** The services that every installation hosts behind its gateway, save the executor, in the order of their start. */
export const hostedModules = (
  config: (service: string) => ServiceConfig,
  { schedulerClock, ledgerClock, approvalsClock, hostsTasks = true }: Clocks,
): DynamicModule[] => [
  AgentRegistryModule.forRoot({ service: config('agent-registry') }),
  KnowledgeModule.forRoot({ service: config('knowledge') }),
  SchedulerModule.forRoot({ ...SCHEDULER_DEFAULTS, service: config('scheduler') }, {}, schedulerClock),
  BudgetLedgerModule.forRoot({ service: config('budget-ledger') }, {}, ledgerClock),
  ApprovalsModule.forRoot({ ...APPROVALS_DEFAULTS, service: config('approvals') }, {}, approvalsClock),
  ...(hostsTasks ? [TasksModule.forRoot({ ...TASKS_DEFAULTS, service: config('tasks') })] : []),
];
