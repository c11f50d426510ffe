import { AGENT_REGISTRY_MIGRATIONS } from '../../apps/agent-registry/src/migrations';
import { APPROVALS_MIGRATIONS } from '../../apps/approvals/src/migrations';
import { BUDGET_LEDGER_MIGRATIONS } from '../../apps/budget-ledger/src/migrations';
import { GATEWAY_MIGRATIONS } from '../../apps/gateway/src/migrations';
import { KNOWLEDGE_MIGRATIONS } from '../../apps/knowledge/src/migrations';
import { RUN_MIGRATIONS } from '../../apps/run-executor/src/migrations';
import { SCHEDULER_MIGRATIONS } from '../../apps/scheduler/src/migrations';
import { TASKS_MIGRATIONS } from '../../apps/tasks/src/migrations';

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
