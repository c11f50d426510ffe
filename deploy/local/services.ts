import type { DynamicModule } from '@nestjs/common';
import type { ServiceConfig } from '@runyard/service';
import { AgentRegistryModule } from '../../apps/agent-registry/src/agent-registry.module';
import { ApprovalsModule } from '../../apps/approvals/src/approvals.module';
import { APPROVALS_DEFAULTS } from '../../apps/approvals/src/config';
import { BudgetLedgerModule } from '../../apps/budget-ledger/src/budget-ledger.module';
import { KnowledgeModule } from '../../apps/knowledge/src/knowledge.module';
import { SCHEDULER_DEFAULTS } from '../../apps/scheduler/src/config';
import { SchedulerModule } from '../../apps/scheduler/src/scheduler.module';
import { TASKS_DEFAULTS } from '../../apps/tasks/src/config';
import { TasksModule } from '../../apps/tasks/src/tasks.module';

export { SERVICES } from './service-list';

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
