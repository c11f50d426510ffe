import { randomUUID } from 'node:crypto';
import { CORE_TOOLS, workSubject } from '@runyard/contracts';
import { connectedFor } from '@runyard/event-log';
import type { EventLog, NatsConnection, WorkQueues } from '@runyard/event-log';
import { blobs } from '@runyard/persistence';
import type { Database, Tx } from '@runyard/persistence';
import { NatsRpcClient } from '@runyard/service';
import type { Logger, Reaction } from '@runyard/service';
import type { ExecutorSettings } from '../config';
import { createModelAdapter } from '../models/model.adapter';
import type { ModelAdapter } from '../models/types';
import { BulkQueries } from '../projections/bulk.queries';
import { erasedRuns } from '../projections/erased.queries';
import { OperationsQueries } from '../projections/operations.queries';
import type { KnowledgeDoor } from '../tools/knowledge/knowledge.adapter';
import { waitingRuns } from '../projections/waiting.queries';
import { createToolRunner } from '../tools/tool-runner';
import type { ToolRunner } from '../tools/types';
import { Asking } from './asking.adapter';
import { ledgerBudgets } from './budgets.adapter';
import type { Budgets } from './budgets.adapter';
import { BulkActions } from './bulk-actions.process';
import { BulkLog } from './bulk-log.adapter';
import { BulkOrders } from './bulk-orders.process';
import { Children } from './children.process';
import { Conversations } from './conversations.adapter';
import { decisionReaction } from './decisions.process';
import { Definitions } from './definitions.adapter';
import { Drivers } from './drivers.process';
import { Evidences } from './evidence.process';
import { RecordingFiles, SecretFiles } from './files.adapter';
import { IntakeConsumer } from './intake.consumer';
import { Intake } from './intake.process';
import { Presence } from './presence.adapter';
import { RegistryFacts } from './registry.adapter';
import { RunLog } from './run-log.adapter';
import { stopReaction } from './agent-stops.process';
import { Successors } from './successors.process';
import { Retention } from './retention.process';
import { Sweep } from './sweep.process';
import { RunTelemetry } from './telemetry.adapter';
import { Texts } from './texts.adapter';
import { WaitingRuns } from './waiting.process';
import { Wakings } from './wakings.process';
import { WorkConsumer } from './work.consumer';

/** What the executor stands on. */
export interface Foundations {
  config: ExecutorSettings;
  log: EventLog;
  queues: WorkQueues;
  connection: NatsConnection;
  db: Database;
  logger: Logger;
  clock?: () => number;
  random?: () => number;
  /** Replace what calls the outside world; tests do. */
  models?: (org: string) => ModelAdapter;
  tools?: ToolRunner;
  /** Where spans and measures of runs go; default: nowhere. */
  telemetry?: RunTelemetry;
  budgets?: Budgets;
}

/** The executor's parts, wired. */
export interface Executor {
  instance: string;
  presence: Presence;
  budgets: Budgets;
  children: Children;
  wakings: Wakings;
  runs: RunLog;
  registry: RegistryFacts;
  conversations: Conversations;
  operations: OperationsQueries;
  drivers: Drivers;
  tools: ToolRunner;
  intakeProcess: Intake;
  intake: IntakeConsumer;
  work: WorkConsumer;
  sweep: Sweep;
  retention: Retention;
  successors: Successors;
  bulkLog: BulkLog;
  bulkActions: BulkActions;
  release: (org: string, runId: string, within?: Tx) => Promise<void>;
  enqueue: (org: string, runId: string) => Promise<void>;
}

/** Wires the executor. Starts nothing. */
export function assemble(on: Foundations): Executor {
  const { config, connection, queues, db } = on;
  const parts = partsOf(on);
  const drivers = new Drivers(parts);
  const evidences = new Evidences(parts.presence, connectedFor(connection), (runId) =>
    parts.operations.heartbeatAge(runId),
  );
  const intakeProcess = new Intake({ ...parts, drivers });
  const waiting = new WaitingRuns((ms, limit) => waitingRuns(db, ms, limit), parts.clock);
  const successors = new Successors({ ...parts, connection });
  const bulkLog = new BulkLog(on.log);
  const orders = new BulkOrders({ ...parts, successors }, parts.log);
  return {
    ...parts,
    drivers,
    intakeProcess,
    successors,
    bulkLog,
    bulkActions: new BulkActions({ ...parts, db, bulkLog, bulkQueries: new BulkQueries(db), orders }),
    intake: new IntakeConsumer(connection, queues, intakeProcess, config.intakeConcurrency, parts.telemetry),
    work: new WorkConsumer(queues, parts.runs, drivers, evidences, config.intakeConcurrency),
    retention: new Retention(parts),
    sweep: new Sweep({ ...parts, drivers, evidences, intake: intakeProcess, waiting }),
  };
}

/** What several parts share. */
function partsOf(on: Foundations) {
  const { config, connection, queues, db } = on;
  const store = blobs(db);
  const texts = new Texts(store);
  const operations = new OperationsQueries(db);
  const registry = new RegistryFacts(on.log);
  const instance = randomUUID();
  const basic = {
    ...portsOf(on),
    instance,
    texts,
    operations,
    queues,
    presence: new Presence(connection, instance),
    definitions: new Definitions(store),
    runs: new RunLog(on.log, texts, 'run-executor', erasedRuns(db)),
    registry,
    asking: new Asking(registry, { ...config, ttlMs: config.approvalTtlMs }),
    conversations: new Conversations(on.log),
    tools: on.tools ?? toolRunnerFor(on),
    coreTools: config.knowledge === 'off' ? [] : CORE_TOOLS,
    release: (org: string, runId: string, within?: Tx) => operations.releaseSlots(org, runId, within),
    enqueue: async (org: string, runId: string) =>
      void (await queues.publish(workSubject(org, runId), { run_id: runId })),
  };
  return { ...basic, children: new Children(basic), wakings: new Wakings(basic.runs, basic.budgets) };
}

/** What makes the executor append where others have decided (P8.2). */
export const reactionsOf = (executor: Executor, { approvalTtlMs }: ExecutorSettings): Reaction[] => [
  stopReaction(executor),
  decisionReaction({ ...executor, clock: Date.now, approvalTtlMs }),
];

/** What parts take from outside: models, time, chance, settings. */
const portsOf = ({ config, connection, logger, models, budgets, ...on }: Foundations) => ({
  budgets: budgets ?? ledgerBudgets(new NatsRpcClient(connection)),
  telemetry: on.telemetry ?? new RunTelemetry(),
  models: models ?? modelsFor(config),
  clock: on.clock ?? Date.now,
  random: on.random ?? Math.random,
  places: config.places,
  pauseTtlMs: config.pauseTtlMs,
  parallelChildren: config.parallelChildren,
  log: logger,
});

function toolRunnerFor({ config, connection, logger, clock = Date.now }: Foundations): ToolRunner {
  const secrets = new SecretFiles(config.secretsDir);
  const recordings = new RecordingFiles(config.recordingsDir);
  return createToolRunner({
    secrets: async (org, name) => secrets.value(org, name),
    recordings: (name) => recordings.find(name),
    http: config.http,
    mcp: { stdioCommands: config.stdioCommands },
    knowledge: doorFor(config, connection),
    now: clock,
    log: logger,
  });
}

function doorFor({ knowledge }: ExecutorSettings, connection: NatsConnection): KnowledgeDoor | undefined {
  if (knowledge === 'off') return undefined;
  if (knowledge === 'service') return { kind: 'service', rpc: new NatsRpcClient(connection) };
  return { kind: 'mcp', server: { name: 'knowledge', transport: 'http', ...knowledge } };
}

/** One adapter an org, since each reaches its own secrets only. */
function modelsFor(config: ExecutorSettings): (org: string) => ModelAdapter {
  const secrets = new SecretFiles(config.secretsDir);
  const recordings = new RecordingFiles(config.recordingsDir);
  const adapters = new Map<string, ModelAdapter>();
  return (org) => {
    const adapter =
      adapters.get(org) ??
      createModelAdapter({
        secrets: (name) => secrets.value(org, name),
        recordings: (name) => recordings.text(name),
      });
    adapters.set(org, adapter);
    return adapter;
  };
}
