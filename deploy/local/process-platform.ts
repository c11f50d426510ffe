import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.mjs';
import { createOrg } from './installation';
import type { CreatedOrg, NewOrg } from './installation';
import { ServiceProcess } from './service-process';
import { SERVICES } from './services';
import { startStack } from './stack';
import type { Stack } from './stack';

export interface ProcessPlatformOptions {
  /** Where data, secrets, recordings and logs lie. */
  folder: string;
  durable: boolean;
  /** 0: any free port. */
  httpPort: number;
  logLevel: string;
  databaseUrl?: string;
  natsUrl?: string;
  /** What every process gets of the environment: PATH, where traces go. */
  env: Record<string, string>;
  /** Settings of services, by name. */
  settings?: Record<string, Record<string, string>>;
  /** Arguments of Node that run a service; default: what was built. */
  mainOf?: (service: string) => readonly string[];
  log?: (line: string) => void;
}

/**
 * The whole product as in production: one process a service, each with its own roles in the database and its own user of the bus
 * with the permissions of deploy/nats/access.ts, and started again when it ends.
 */
export class ProcessPlatform {
  private constructor(
    readonly stack: Stack,
    readonly folders: { recordings: string; secrets: string; logs: string },
    readonly processes: ReadonlyMap<string, ServiceProcess>,
    readonly apiUrl: string,
    readonly opsUrl: string,
  ) {}

  static async start(options: ProcessPlatformOptions): Promise<ProcessPlatform> {
    const stack = await startStack({ ...options, services: SERVICES, usersOfBus: true });
    const [recordings, secrets, logs] = ['recordings', 'secrets', 'logs'].map((name) => {
      const folder = join(options.folder, name);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return folder;
    }) as [string, string, string];
    const folders = { recordings, secrets, logs };
    const httpPort = options.httpPort || (await freePort());
    const processes = new Map<string, ServiceProcess>();
    try {
      for (const { service } of SERVICES)
        processes.set(service, await launch(service, { ...options, httpPort }, stack, folders));
      await Promise.all([...processes.values()].map((process) => process.ready()));
      const opsPort = processes.get('gateway')?.opsPort ?? 0;
      const [api, ops] = [httpPort, opsPort].map((port) => `http://127.0.0.1:${port}`) as [string, string];
      return new ProcessPlatform(stack, folders, processes, api, ops);
    } catch (error) {
      await Promise.all([...processes.values()].map((process) => process.stop()));
      await stack.stop();
      throw error;
    }
  }

  createOrg(input: NewOrg): Promise<CreatedOrg> {
    return createOrg(this.stack, input);
  }

  /** kill -9 of one service; resolves when it works again. */
  async crash(service: string): Promise<void> {
    const process = this.processes.get(service);
    if (!process) throw new Error(`there is no service ${service}`);
    await process.kill();
    await process.ready();
  }

  /** The door first, so that nobody is let in while the rest stops; servers last. */
  async stop(): Promise<void> {
    await this.processes.get('gateway')?.stop();
    await Promise.all([...this.processes.values()].map((process) => process.stop()));
    await this.stack.stop();
  }
}

const builtMain = (service: string): readonly string[] => [
  '--enable-source-maps',
  join(__dirname, `../../apps/${service}/src/main.js`),
];

async function launch(
  service: string,
  options: ProcessPlatformOptions,
  stack: Stack,
  folders: ProcessPlatform['folders'],
): Promise<ServiceProcess> {
  // Kept: a service that is started again listens where it did.
  const opsPort = await freePort();
  const login = stack.busLogin(service);
  const env = {
    ...options.env,
    NATS_URL: stack.natsUrl,
    ...(login ? { NATS_USER: login.user, NATS_PASSWORD: login.pass } : {}),
    DATABASE_URL: stack.urlOf(service),
    DATABASE_ACROSS_URL: stack.acrossUrlOf(service),
    RUNYARD_OPS_PORT: String(opsPort),
    RUNYARD_LOG_LEVEL: options.logLevel,
    RUNYARD_HTTP_PORT: String(options.httpPort),
    RUNYARD_RECORDINGS_DIR: folders.recordings,
    RUNYARD_SECRETS_DIR: folders.secrets,
    ...options.settings?.[service],
  };
  const logFile = join(folders.logs, `${service}.log`);
  return new ServiceProcess({ service, main: (options.mainOf ?? builtMain)(service), env, logFile, opsPort });
}
