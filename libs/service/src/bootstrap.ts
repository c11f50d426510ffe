import { NestFactory } from '@nestjs/core';
import type { DynamicModule, INestApplicationContext, Type } from '@nestjs/common';
import { ConfigError } from './config';
import type { Logger } from './logger';
import { createLogger, nestLogger } from './logger';
import type { OpsTarget } from './ops-server';
import { ServiceModule } from './service.module';
import { LOGGER } from './tokens';

type AppModule = DynamicModule | Type;

export interface StartOptions {
  /** Creates the application where a context is not enough (the gateway's HTTP). Default: an application context. */
  create?: (
    module: AppModule,
    options: { logger: ReturnType<typeof nestLogger>; abortOnError: false },
  ) => Promise<INestApplicationContext>;
  /** After initialisation, e.g. to listen. */
  ready?: (app: INestApplicationContext) => Promise<void>;
}

/** Starts a service inside this process; the launcher that hosts several uses it for each. Close it with `app.close()`. */
export async function startService(
  module: AppModule,
  options: StartOptions = {},
): Promise<INestApplicationContext> {
  const logger = nestLogger(createLogger('nest', 'warn'));
  const create = options.create ?? ((root, nest) => NestFactory.createApplicationContext(root, nest));
  const app = await create(module, { logger, abortOnError: false });
  await app.init();
  await options.ready?.(app);
  // Not before: who is told that it is ready sends it work, and what listens last must be there then.
  await opsTargetOf(app).health.start();
  return app;
}

/** What an ops server needs of a started service. */
export const opsTargetOf = (app: INestApplicationContext): OpsTarget =>
  app.get(ServiceModule, { strict: false });

/**
 * Runs one service as this process: starts it, stops it in order on SIGTERM and SIGINT (a second signal ends it at
 * once), and ends the process when something failed that nobody awaited. `module` is a function, so that a
 * configuration error is printed as such: it names variables, never values.
 */
export async function bootstrap(module: () => AppModule, options: StartOptions = {}): Promise<void> {
  const logger = createLogger('bootstrap', 'info');
  try {
    const app = await startService(module(), options);
    stopOnSignals(app, logger);
  } catch (error) {
    if (error instanceof ConfigError) logger.fatal({ variables: error.variables }, error.message);
    else logger.fatal({ err: error }, 'could not start');
    process.exit(1);
  }
}

function stopOnSignals(app: INestApplicationContext, logger: Logger): void {
  let stopping = false;
  const stop = (code: number) => {
    if (stopping) process.exit(130);
    stopping = true;
    opsTargetOf(app).health.shutDown();
    app.close().then(
      () => process.exit(code),
      (error: unknown) => {
        logger.fatal({ err: error }, 'could not stop in order');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => stop(0));
  process.on('SIGINT', () => stop(0));
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => {
      app
        .get<Logger>(LOGGER, { strict: false })
        .fatal({ err: error }, 'something failed that nobody awaited');
      if (!stopping) stop(1);
    });
}
