import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { throwawayFolder } from '../../deploy/local/throwaway';
import { ApiClient } from '../../deploy/local/api-client';
import { Platform } from '../../deploy/local/platform';
import { BareClients } from './bare-client';
import { agentOf, COMMITS, ITERATIONS, seedCatalogue } from './catalogue';
import { Executors } from './executors';
import type { DurabilityClass, RunsOptions } from './options';
import { Requester } from './requester';
import { Rows } from './rows';

const ORG = {
  name: 'Benchmark',
  time_zone: 'UTC',
  key_label: 'benchmark',
  admin: { email: 'admin@example.org', name: 'Admin' },
};

/** A tool that counts its calls and answers none of them: whoever called it is interrupted. */
export class OnceTool {
  calls = 0;
  private called: () => void = () => undefined;

  private constructor(private readonly server: Server) {}

  static async listen(): Promise<OnceTool> {
    const server = createServer((request) => {
      request.resume().once('end', () => tool.count());
    });
    const tool = new OnceTool(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return tool;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/pay`;
  }

  /** Resolves with the next call. */
  next(): Promise<void> {
    return new Promise((resolve) => (this.called = resolve));
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private count(): void {
    this.calls += 1;
    this.called();
  }
}

/**
 * Servers of one class with the product on them. This process hosts registry and gateway and asks for runs; executors and
 * the bare client are processes of their own.
 */
export class Laboratory {
  private constructor(
    readonly platform: Platform,
    readonly api: ApiClient,
    /** Counts commits. */
    readonly requester: Requester,
    private readonly requests: { org: string; userId: string },
    readonly rows: Rows,
    readonly bare: BareClients,
    readonly executors: Executors,
    readonly once: OnceTool,
    private readonly folder: string,
  ) {}

  static async open(
    durability: DurabilityClass,
    options: RunsOptions,
    turns: readonly number[],
  ): Promise<Laboratory> {
    const folder = throwawayFolder(`bench-${durability}`);
    const platform = await Platform.start({
      folder,
      durable: durability === 'B',
      httpPort: 0,
      opsPort: null,
      logLevel: 'error',
      executor: null,
      ratePerMinute: 1_000_000,
    });
    const once = await OnceTool.listen();
    const { org, user, key } = await platform.createOrg(ORG);
    const api = new ApiClient(platform.apiUrl, key.key);
    await seedCatalogue(api, { folder: platform.folders.recordings, turns, onceUrl: once.url });
    const { natsUrl, ownerUrl } = platform.stack;
    const requests = { org: org.org_id, userId: user.user_id };
    const env = {
      ...platform.executorEnv(),
      RUNYARD_HTTP_ALLOWED_HOSTS: '127.0.0.1',
      RUNYARD_HTTP_ALLOW_PRIVATE: 'on',
      // The loop is measured, not what further tools weigh in a request.
      RUNYARD_KNOWLEDGE: 'off',
    };
    return new Laboratory(
      platform,
      api,
      await Requester.connect(natsUrl, requests, false),
      requests,
      await Rows.connect(ownerUrl),
      await BareClients.start(natsUrl),
      new Executors(env, join(folder, 'executors.log'), options.profile && join(options.profile, durability)),
      once,
      folder,
    );
  }

  /** Starts the executors of the measured topology and waits until they work. */
  async startExecutors({ executors, projector }: RunsOptions): Promise<void> {
    if (projector) this.executors.startProjector();
    for (let i = 0; i < executors; i++) this.executors.start(projector ? { RUNYARD_PROJECTIONS: 'off' } : {});
    await this.requester.run(agentOf(ITERATIONS), COMMITS);
    await this.caughtUp();
  }

  /** Another requester that reads what commits hold. */
  reader(): Promise<Requester> {
    return Requester.connect(this.platform.stack.natsUrl, this.requests, true);
  }

  /** Waits until the rows have caught up; milliseconds. */
  async caughtUp(): Promise<number> {
    return this.rows.reach(await this.requester.lastSequence());
  }

  async close(): Promise<void> {
    await this.executors.stop();
    this.bare.stop();
    await this.requester.close();
    await this.rows.close();
    this.once.close();
    await this.platform.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
