import { NestFactory } from '@nestjs/core';
import type { DynamicModule } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { LOGGER, METRICS, opsTargetOf, startService } from '@runyard/service';
import type { Logger, Metrics, StartOptions } from '@runyard/service';
import { Histogram } from 'prom-client';
import type { GatewayConfig } from './config';
import { Door } from './door/door';
import { createServer, installDoor } from './door/server';
import { GatewayModule } from './gateway.module';
import { ProblemFilter } from './problems/problem-filter';

const BUCKETS_SECONDS = [0.002, 0.005, 0.02, 0.1, 0.5, 2, 10];

/** How the gateway starts: as a Nest application on Fastify, with the door in front, listening when it is ready. */
export function gatewayStart(
  configOf: () => GatewayConfig,
): StartOptions & { create: NonNullable<StartOptions['create']> } {
  return {
    create: async (module, options) => {
      const adapter = createServer(configOf().http);
      const app = await NestFactory.create<NestFastifyApplication>(module as DynamicModule, adapter, {
        ...options,
        bodyParser: false,
      });
      const metrics = app.get<Metrics>(METRICS, { strict: false });
      const seconds = new Histogram({
        name: 'runyard_http_seconds',
        help: 'Time to answer an HTTP request; streams count until they end',
        labelNames: ['route', 'method', 'status'] as const,
        buckets: BUCKETS_SECONDS,
        registers: [metrics.registry],
      });
      await installDoor(adapter, app.get(Door), app.get(ProblemFilter), {
        seconds,
        log: app.get<Logger>(LOGGER, { strict: false }),
      });
      return app;
    },
    ready: async (app) => {
      const { port, host } = configOf().http;
      await (app as NestFastifyApplication).listen(port, host);
    },
  };
}

export interface RunningGateway {
  /** Where the API answers, e.g. `http://127.0.0.1:8080`. */
  url: string;
  app: NestFastifyApplication;
  opsPort: number | undefined;
  close(): Promise<void>;
}

/** Starts the gateway inside this process; for launchers and tests. */
export async function startGateway(
  config: GatewayConfig,
  logTo?: { write(line: string): void },
): Promise<RunningGateway> {
  const app = (await startService(
    GatewayModule.forRoot(config, logTo),
    gatewayStart(() => config),
  )) as NestFastifyApplication;
  const url = (await app.getUrl()).replace('[::1]', '127.0.0.1');
  return { url, app, opsPort: opsPortOf(app), close: () => app.close() };
}

function opsPortOf(app: NestFastifyApplication): number | undefined {
  const port: unknown = Reflect.get(opsTargetOf(app), 'opsPort');
  return typeof port === 'number' ? port : undefined;
}
