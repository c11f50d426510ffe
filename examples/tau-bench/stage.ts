import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Platform } from '../../deploy/local/platform';
import { throwawayFolder } from '../../deploy/local/throwaway';
import type { Api } from './api';
import { Executors } from './executors';
import { LiveTools } from './live';
import { startModelServer } from './model-server';
import { Reviewers } from './reviewers';
import { prepare } from './setting';
import type { Script } from './script';
import type { Source } from './source';

/** How long a question stays open: longer than a lost executor takes to be replaced, since a grant holds as long. */
const OPEN_SECONDS = 40;

export interface Wishes {
  /** Tools that keep what they are told, instead of a recording. */
  live: boolean;
  /** Each call that writes needs a decision, by these reviewers; undefined: none does. */
  script: Script | undefined;
}

/** Everything that a replay needs: the product, executors of its own, a model, tools and people. */
export class Stage {
  private constructor(
    readonly api: Api,
    readonly executors: Executors,
    readonly live: LiveTools | undefined,
    readonly reviewers: Reviewers | undefined,
    private readonly closing: (() => unknown)[],
  ) {}

  static async set(data: string, source: Source, wishes: Wishes): Promise<Stage> {
    const folder = throwawayFolder('tau');
    const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
    const model = await startModelServer(source.dialogs, { improvise: wishes.script !== undefined });
    closing.push(() => model.stop());
    const live = wishes.live ? await LiveTools.start(data, source) : undefined;
    closing.push(() => live?.stop());
    const platform = await Platform.start({
      folder,
      durable: false,
      httpPort: 0,
      opsPort: null,
      logLevel: 'error',
      executor: null,
      ratePerMinute: 1_000_000,
    });
    closing.push(() => platform.stop());
    const mode = wishes.script ? 'ask' : 'auto';
    const api = await prepare(platform, source, { modelUrl: model.url, toolsUrl: live?.url, mode });
    live?.knowRunsFrom(api);
    const { script } = wishes;
    const reviewers = live && script ? await Reviewers.start(api, platform.apiUrl, live, script) : undefined;
    closing.push(() => reviewers?.stop());
    const executors = new Executors(executorEnv(platform, wishes), join(folder, 'executors.log'));
    closing.push(() => executors.stop());
    return new Stage(api, executors, live, reviewers, closing);
  }

  /** Executors first, servers last. */
  async strike(): Promise<void> {
    for (const close of this.closing.toReversed()) await close();
  }
}

/** The recorded dialogs know no core tools, and this installation has no documents. */
const executorEnv = (platform: Platform, { live, script }: Wishes): Record<string, string> => ({
  ...platform.executorEnv(),
  RUNYARD_KNOWLEDGE: 'off',
  ...(script ? { RUNYARD_APPROVAL_TTL_SECONDS: String(OPEN_SECONDS) } : {}),
  ...(live ? { RUNYARD_HTTP_ALLOWED_HOSTS: '127.0.0.1', RUNYARD_HTTP_ALLOW_PRIVATE: 'on' } : {}),
});
