import type { NatsConnection } from '@nats-io/transport-node';
import { connectEventLog } from '@runyard/event-log';
import type { WorkQueues } from '@runyard/event-log';
import { connectDatabase } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import type { ServiceConfig } from './config';
import type { Metrics } from './metrics';
import { ObservedEventLog } from './observed-log.adapter';

/** The connections of one service. */
export interface Resources {
  log: ObservedEventLog;
  queues: WorkQueues;
  connection: NatsConnection;
  db: Database;
  close(): Promise<void>;
}

/** Connects to the bus and the database; what was opened is closed again when the rest fails. */
export async function connectResources(
  service: string,
  config: ServiceConfig,
  metrics: Metrics,
): Promise<Resources> {
  const { url, acrossUrl, poolSize } = config.database;
  const bus = await connectEventLog({ ...config.nats, name: service });
  try {
    const db = await connectDatabase({ url, acrossUrl, applicationName: `runyard-${service}`, poolSize });
    return {
      log: new ObservedEventLog(bus.log, metrics),
      queues: bus.queues,
      connection: bus.connection,
      db,
      close: async () => {
        await bus.close();
        await db.close();
      },
    };
  } catch (error) {
    await bus.close();
    throw error;
  }
}
