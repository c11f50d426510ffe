import type { NatsConnection } from '@nats-io/transport-node';
import { connectEventLog } from '@runyard/event-log';
import type { Notice, WorkQueues } from '@runyard/event-log';
import { connectDatabase } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import type { Logger } from './logger';
import type { Metrics } from './metrics';
import { ObservedEventLog } from './observed-log.adapter';
import type { ServiceOptions } from './options';

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
  options: ServiceOptions,
  metrics: Metrics,
  logger: Logger,
): Promise<Resources> {
  const { name: service, config, projections = [], archives = [] } = options;
  const { servers, user, password, tails } = config.nats;
  const { url, acrossUrl, poolSize } = config.database;
  const bus = await connectEventLog({
    servers,
    user,
    pass: password,
    tails,
    name: service,
    onNotice: (notice) => report(logger, notice),
  });
  try {
    const db = connectDatabase({
      url,
      acrossUrl,
      applicationName: `runyard-${service}`,
      poolSize,
      acrossPoolSize: options.acrossPoolSize ?? projections.length + archives.length + 4,
      onLost: (error) => logger.warn({ err: error }, 'an idle database connection was lost'),
    });
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

/** What operators should hear of the bus. */
function report(logger: Logger, notice: Notice): void {
  const { kind, ...facts } = notice;
  logger[kind === 'reconnected' ? 'info' : 'warn'](facts, `bus: ${kind.replaceAll('_', ' ')}`);
}
