import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freshDatabase, startNats } from '@runyard/testing';
import type { TestDatabase, TestNats } from '@runyard/testing';
import { ApiClient } from '../../../deploy/local/api-client';
import { Platform } from '../../../deploy/local/platform';
import type { PlatformOptions } from '../../../deploy/local/platform';
import { throwawayFolder } from '../../../deploy/local/throwaway';

/** A turn of a recorded dialog. */
export interface Turn {
  expect?: object[];
  text?: string;
  tool_calls?: object[];
  delay_ms?: number;
  usage?: object;
}

/** Spec-only: the whole product with an org, its admin's key, and agents that answer from recordings. */
export class Product {
  private constructor(
    readonly nats: TestNats,
    readonly database: TestDatabase,
    readonly platform: Platform,
    readonly api: ApiClient,
    private readonly key: string,
    readonly org: string,
    readonly userId: string,
    private readonly folder: string,
  ) {}

  static async start(options: Partial<PlatformOptions> = {}): Promise<Product> {
    const folder = throwawayFolder('tasks');
    const [nats, database] = await Promise.all([startNats(), freshDatabase()]);
    const platform = await Platform.start({
      folder,
      durable: false,
      httpPort: 0,
      opsPort: null,
      logLevel: 'warn',
      databaseUrl: database.ownerUrl,
      natsUrl: nats.url,
      executor: {},
      ratePerMinute: 1_000_000,
      ...options,
    });
    const created = await platform.createOrg({
      name: 'Org',
      time_zone: 'Europe/Berlin',
      admin: { email: 'ada@example.org', name: 'Ada' },
      key_label: 'first',
    });
    const api = new ApiClient(platform.apiUrl, created.key.key);
    const { org, user } = created;
    return new Product(nats, database, platform, api, created.key.key, org.org_id, user.user_id, folder);
  }

  /** An agent of its own recording: one dialog a run, found by what the run is asked. */
  async agent(agentId: string, dialogs: Turn[][], more: object = {}): Promise<void> {
    const usage = { input: 10, output: 5 };
    const recording = {
      format: 'runyard-recording/1',
      model: 'recorded-model',
      dialogs: dialogs.map((turns) => ({ turns: turns.map((turn) => ({ usage, ...turn })) })),
    };
    writeFileSync(join(this.platform.folders.recordings, `${agentId}.json`), JSON.stringify(recording));
    await this.api.call('POST', '/v1/models', {
      model_id: agentId,
      label: agentId,
      tier: 'fast',
      provider: { kind: 'recorded', recording: `${agentId}.json` },
      model: 'recorded-model',
      context_window: 64_000,
    });
    await this.api.call('POST', '/v1/agents', {
      agent_id: agentId,
      name: agentId,
      prompt: 'Help.',
      model_id: agentId,
      ...more,
    });
  }

  /** For a part of the product in a process of its own. */
  executorArguments(): string[] {
    return [this.folder, this.database.ownerUrl, this.nats.url];
  }
  boardArguments(): string[] {
    return [this.nats.url, this.database.urlFor('tasks'), this.database.acrossUrlFor('tasks'), '500'];
  }

  stream(address: string, signal: AbortSignal, lastEventId?: string): Promise<Response> {
    const headers = new Headers({ authorization: `Bearer ${this.key}`, accept: 'text/event-stream' });
    if (lastEventId !== undefined) headers.set('last-event-id', lastEventId);
    return fetch(this.platform.apiUrl + address, {
      headers,
      signal,
    });
  }

  /** Waits until a task is as a spec wants it. */
  async until<Row extends object>(
    taskId: string,
    is: (row: Row) => boolean,
    withinMs = 60_000,
  ): Promise<Row> {
    let last: Row | undefined;
    await eventually(
      async () => {
        // The board may just have been killed.
        last = await this.api.call<Row>('GET', `/v1/tasks/${taskId}`);
        return is(last);
      },
      { withinMs, everyMs: 50 },
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}; last seen: ${JSON.stringify(last)}`);
    });
    return last as Row;
  }

  async stop(): Promise<void> {
    await this.platform.stop();
    await Promise.all([this.nats[Symbol.asyncDispose](), this.database.drop()]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
