import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freshDatabase, startNats } from '@runyard/testing';
import type { TestDatabase, TestNats } from '@runyard/testing';
import { Client } from 'pg';
import type { ExecutorSettings } from '../../run-executor/src/config';
import { ApiClient } from '../../../deploy/local/api-client';
import { Platform } from '../../../deploy/local/platform';
import { throwawayFolder } from '../../../deploy/local/throwaway';
import { runCommandLine } from '../src/command-line';

/** What a command said, and how it ended. */
export interface Ran {
  code: number;
  out: string[];
  said: string;
}

export interface WorldOptions {
  /** Turns of the recorded model, by recording. */
  recordings: Record<string, unknown[]>;
  /** What the executor goes by, where it is not as everywhere. */
  executor?: Partial<ExecutorSettings>;
  /** Another Postgres than that of all specs. */
  server?: string;
}

/** The whole product on servers of its own, and its command line. */
export class World {
  private constructor(
    readonly nats: TestNats,
    readonly database: TestDatabase,
    public platform: Platform,
    public owner: Client,
    readonly folder: string,
    readonly org: string,
    readonly userId: string,
    readonly key: string,
  ) {}

  static async open({ recordings, executor = {}, server }: WorldOptions): Promise<World> {
    const folder = throwawayFolder('cli');
    const [nats, database] = await Promise.all([startNats(), freshDatabase([], { url: server })]);
    const platform = await startPlatform(folder, nats, database, executor);
    for (const [name, turns] of Object.entries(recordings)) {
      const recording = { format: 'runyard-recording/1', model: 'recorded', dialogs: [{ name, turns }] };
      writeFileSync(join(platform.folders.recordings, `${name}.json`), JSON.stringify(recording));
    }
    const admin = { email: 'ada@example.org', name: 'Ada' };
    const made = await platform.createOrg({ name: 'Org', time_zone: 'UTC', admin, key_label: 'first' });
    const owner = new Client({ connectionString: database.ownerUrl });
    await owner.connect();
    const { org_id } = made.org;
    const world = new World(nats, database, platform, owner, folder, org_id, made.user.user_id, made.key.key);
    await world.seed(Object.keys(recordings));
    world.writeConnection();
    return world;
  }

  get api(): ApiClient {
    return new ApiClient(this.platform.apiUrl, this.key);
  }

  /** An agent a recording, under its name. */
  private async seed(names: readonly string[]): Promise<void> {
    for (const name of names) {
      await this.api.call('POST', '/v1/models', {
        model_id: name,
        label: name,
        tier: 'fast',
        provider: { kind: 'recorded', recording: `${name}.json` },
        model: 'recorded',
        context_window: 100_000,
      });
      await this.agent(name, name);
    }
  }

  agent(id: string, model: string, more: object = {}): Promise<unknown> {
    const agent = { agent_id: id, name: id, prompt: `You are ${id}.`, model_id: model };
    return this.api.call('POST', '/v1/agents', { ...agent, concurrency: 'unlimited', ...more });
  }

  private writeConnection(): void {
    const connection = {
      api_url: this.platform.apiUrl,
      nats_url: this.nats.url,
      database_url: this.database.ownerUrl,
      org_id: this.org,
      keys: { admin: this.key },
    };
    writeFileSync(this.connectionFile, JSON.stringify(connection));
  }

  get connectionFile(): string {
    return join(this.folder, 'connection.json');
  }

  async runyard(...args: string[]): Promise<Ran> {
    const out: string[] = [];
    const said: string[] = [];
    const terminal = {
      out: (line: string) => void out.push(line),
      say: (line: string) => void said.push(line),
      progress: () => undefined,
    };
    const code = await runCommandLine(
      ['node', 'runyard', '--connection', this.connectionFile, ...args],
      terminal,
    );
    return { code, out, said: said.join('\n') };
  }

  /** Starts a run and waits until its row shows its end. */
  async ran(agent: string, input: string, more: object = {}): Promise<string> {
    const { run_id } = await this.api.call<{ run_id: string }>('POST', '/v1/runs', {
      agent_id: agent,
      input,
      ...more,
    });
    await eventually(async () => (await this.row(run_id))?.ended_at != null, { withinMs: 30_000 });
    return run_id;
  }

  async row(runId: string): Promise<Record<string, unknown> | undefined> {
    const sql = 'SELECT * FROM run_executor.agent_runs WHERE run_id = $1';
    return (await this.owner.query(sql, [runId])).rows[0] as Record<string, unknown> | undefined;
  }

  async value<T>(sql: string, params: unknown[] = []): Promise<T> {
    const row = (await this.owner.query(sql, params)).rows[0] as Record<string, T> | undefined;
    return Object.values(row ?? {})[0] as T;
  }

  async restart(between: () => Promise<unknown>): Promise<void> {
    await this.platform.stop();
    await between();
    this.platform = await startPlatform(this.folder, this.nats, this.database);
    this.writeConnection();
  }

  /** With nobody signed on to the database: what copies or replaces it needs that. */
  async withoutDatabase(work: () => Promise<unknown>): Promise<void> {
    await this.restart(async () => {
      await this.owner.end();
      await work();
      this.owner = new Client({ connectionString: this.database.ownerUrl });
      await this.owner.connect();
    });
  }

  async close(): Promise<void> {
    await this.platform.stop().catch(() => undefined);
    await this.owner.end();
    await Promise.all([this.nats[Symbol.asyncDispose](), this.database.drop()]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const startPlatform = (
  folder: string,
  nats: TestNats,
  database: TestDatabase,
  executor: Partial<ExecutorSettings> = {},
): Promise<Platform> =>
  Platform.start({
    folder,
    durable: false,
    httpPort: 0,
    opsPort: null,
    logLevel: 'silent',
    databaseUrl: database.ownerUrl,
    natsUrl: nats.url,
    executor,
    ratePerMinute: 100_000,
  });
