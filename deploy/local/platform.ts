import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { OpsServer, opsTargetOf, startService } from '@runyard/service';
import { JointTails } from '@runyard/event-log';
import type { ServiceConfig } from '@runyard/service';
import { GATEWAY_DEFAULTS } from '../../apps/gateway/src/config';
import { startGateway } from '../../apps/gateway/src/http.module';
import type { RunningGateway } from '../../apps/gateway/src/http.module';
import { EXECUTOR_DEFAULTS } from '../../apps/run-executor/src/config';
import type { ExecutorConfig } from '../../apps/run-executor/src/config';
import { RunExecutorModule } from '../../apps/run-executor/src/run-executor.module';
import { createOrg } from './installation';
import type { CreatedOrg, NewOrg } from './installation';
import { hostedModules, SERVICES } from './services';
import type { Clocks } from './services';
import { startStack } from './stack';
import type { Stack } from './stack';

export interface PlatformOptions extends Clocks {
  /** Where data, secrets and recordings lie. */
  folder: string;
  /** True: survives power loss. False: survives kill -9 of any process; for tests and benchmarks of that class. */
  durable: boolean;
  httpPort: number;
  /** Port of /live, /ready and /metrics of all services; null: none. */
  opsPort: number | null;
  logLevel: ServiceConfig['logLevel'];
  databaseUrl?: string;
  natsUrl?: string;
  /** Settings of the executor in this process; null: executors run elsewhere, with `executorEnv()`. */
  executor: Partial<Omit<ExecutorConfig, 'service'>> | null;
  /** Where traces are sent; undefined: nowhere. */
  traces?: ServiceConfig['traces'];
  /** Requests a key may make in a minute. */
  ratePerMinute?: number;
  log?: (line: string) => void;
}

/** The whole product in one process, on servers of its own or given ones. */
export class Platform {
  private constructor(
    readonly stack: Stack,
    readonly gateway: RunningGateway,
    readonly folders: { recordings: string; secrets: string },
    private readonly apps: readonly INestApplicationContext[],
    private readonly ops: OpsServer | null,
  ) {}

  static async start(options: PlatformOptions): Promise<Platform> {
    const stack = await startStack({ ...options, services: SERVICES });
    const folders = {
      recordings: join(options.folder, 'recordings'),
      secrets: join(options.folder, 'secrets'),
    };
    for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true, mode: 0o700 });
    const apps: INestApplicationContext[] = [];
    try {
      const hosting = { stack, folders, options, tails: new JointTails() };
      for (const module of hostedModules((service) => configFor(hosting, service), options))
        apps.push(await startService(module));
      if (options.executor) apps.push(await startService(RunExecutorModule.forRoot(executorConfig(hosting))));
      const gateway = await startGateway(gatewayConfig(hosting));
      const targets = [...apps, gateway.app].map(opsTargetOf);
      const at = options.opsPort === null ? null : { host: '127.0.0.1', port: options.opsPort };
      return new Platform(stack, gateway, folders, apps, at && (await OpsServer.listen(at, targets)));
    } catch (error) {
      await Promise.all(apps.map((app) => app.close()));
      await stack.stop();
      throw error;
    }
  }

  get apiUrl(): string {
    return this.gateway.url;
  }

  get opsUrl(): string {
    return `http://127.0.0.1:${this.ops?.port ?? 0}`;
  }

  createOrg(input: NewOrg): Promise<CreatedOrg> {
    return createOrg(this.stack, input);
  }

  /** Environment of an executor process that joins this platform. */
  executorEnv(): Record<string, string> {
    return {
      NATS_URL: this.stack.natsUrl,
      DATABASE_URL: this.stack.urlOf('run-executor'),
      DATABASE_ACROSS_URL: this.stack.acrossUrlOf('run-executor'),
      RUNYARD_RECORDINGS_DIR: this.folders.recordings,
      RUNYARD_SECRETS_DIR: this.folders.secrets,
      RUNYARD_OPS_PORT: '0',
      RUNYARD_LOG_LEVEL: 'warn',
    };
  }

  /** The door first, so that nobody is let in while the rest stops; servers last. */
  async stop(): Promise<void> {
    await this.ops?.close();
    await this.gateway.close();
    for (const app of this.apps.toReversed()) await app.close();
    await this.stack.stop();
  }
}

/** What the services of this process ask of the platform. */
interface Hosting {
  stack: Stack;
  folders: Platform['folders'];
  options: PlatformOptions;
  /** One reading of a stream for all of them. */
  tails: JointTails;
}

function configFor({ stack, options, tails }: Hosting, service: string): ServiceConfig {
  return {
    nats: { servers: [stack.natsUrl], tails },
    database: { url: stack.urlOf(service), acrossUrl: stack.acrossUrlOf(service), poolSize: 10 },
    ops: null,
    logLevel: options.logLevel,
    rpcConcurrency: 64,
    shutdownMs: 20_000,
    traces: options.traces,
  };
}

const executorConfig = (hosting: Hosting): ExecutorConfig => ({
  ...EXECUTOR_DEFAULTS,
  service: configFor(hosting, 'run-executor'),
  recordingsDir: hosting.folders.recordings,
  secretsDir: hosting.folders.secrets,
  ...hosting.options.executor,
});

const gatewayConfig = (hosting: Hosting) => ({
  ...GATEWAY_DEFAULTS,
  service: configFor(hosting, 'gateway'),
  http: { ...GATEWAY_DEFAULTS.http, port: hosting.options.httpPort },
  rate: { quota: hosting.options.ratePerMinute ?? GATEWAY_DEFAULTS.rate.quota, windowSeconds: 60 },
});
