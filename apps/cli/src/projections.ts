import type { Projection } from '@runyard/persistence';
import { AGENT_REGISTRY_PROJECTIONS } from '../../agent-registry/src/projections';
import { BUDGET_LEDGER_PROJECTIONS } from '../../budget-ledger/src/projections';
import { APPROVALS_PROJECTIONS } from '../../approvals/src/projections';
import { KNOWLEDGE_PROJECTIONS } from '../../knowledge/src/projections';
import { RUN_EXECUTOR_PROJECTIONS } from '../../run-executor/src/projections';
import { SCHEDULER_PROJECTIONS } from '../../scheduler/src/projections';
import { TASKS_PROJECTIONS } from '../../tasks/src/projections';

/** A projection of some service, as `verify`, `replay` and `streams` see it. */
export interface InstalledProjection {
  projection: Projection;
  schema: string;
  /** Compared with what the log gives. */
  tables: readonly string[];
  /** Written along the way and not compared. */
  workTables?: readonly string[];
  /** Read here, written by another projection. */
  lookupTables?: readonly string[];
  /** Per table, columns that are facts of operation and differ by nature. */
  ignoredColumns?: Readonly<Record<string, readonly string[]>>;
  /** The same projection, telling of event types that it does not know. */
  telling?: (onUnknown: (event: UnknownType) => void) => Projection;
}

/** An event type that a projection skipped, and where. */
export interface UnknownType {
  type: string;
  position: string;
}

/** Every projection of the product. A new service adds its list here. */
export const PROJECTIONS: readonly InstalledProjection[] = [
  ...RUN_EXECUTOR_PROJECTIONS,
  ...AGENT_REGISTRY_PROJECTIONS,
  ...SCHEDULER_PROJECTIONS,
  ...BUDGET_LEDGER_PROJECTIONS,
  ...APPROVALS_PROJECTIONS,
  ...KNOWLEDGE_PROJECTIONS,
  ...TASKS_PROJECTIONS,
];

export const nameOf = ({ projection }: InstalledProjection): string => projection.name;
