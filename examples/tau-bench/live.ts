import { rewardOf, stateOf } from '../airline/rewards';
import { startAirline } from '../airline/server';
import type { RunningAirline } from '../airline/server';
import { newWorld, readLibrary } from '../airline/world';
import type { Library, World } from '../airline/world';
import type { Api } from './api';
import type { Dialog, Source } from './source';

/** Dialogs whose worlds agree with their rewards; the one that does not was cut by a cap before it was judged. */
const AGREEING = 199;

/** An airline with a world for each dialog, and what became of them. */
export class LiveTools {
  private readonly worlds = new Map<string, World>();
  private readonly dialogs = new Map<string, Promise<string>>();
  private api: Api | undefined;
  private airline: RunningAirline | undefined;

  private constructor(
    private readonly library: Library,
    private readonly source: Source,
  ) {}

  static async start(data: string, source: Source): Promise<LiveTools> {
    const live = new LiveTools(readLibrary(data), source);
    live.airline = await startAirline({ schemas: source.tools, worldOf: (key) => live.worldOf(key) });
    return live;
  }

  get url(): string {
    return this.airline?.url ?? '';
  }

  /** Where runs can be looked up: a call names its run, and its run the dialog. */
  knowRunsFrom(api: Api): void {
    this.api = api;
  }

  /** Calls in the order in which they were carried out. */
  carriedOut(): ReturnType<RunningAirline['carriedOut']> {
    return this.airline?.carriedOut() ?? [];
  }

  /** How many calls were carried out, and how many worlds agree with the rewards. */
  summary(): { good: boolean; text: string } {
    const agreeing = this.source.dialogs.filter((dialog) => this.agrees(dialog)).length;
    const carriedOut = this.carriedOut();
    const once = new Set(carriedOut.map(({ key }) => key)).size === carriedOut.length;
    const text = `live: calls carried out ${carriedOut.length}, each once ${once ? 'yes' : 'NO'}, states that agree with the rewards ${agreeing} of ${this.source.dialogs.length}`;
    return { good: once && agreeing === AGREEING, text };
  }

  async stop(): Promise<void> {
    await this.airline?.stop();
  }

  private agrees({ name, source }: Dialog): boolean {
    const state = stateOf(this.library, this.world(name));
    return rewardOf(this.library, source, state, source.traj) === source.reward;
  }

  private world(dialog: string): World {
    const world = this.worlds.get(dialog) ?? newWorld(this.library);
    this.worlds.set(dialog, world);
    return world;
  }

  private async worldOf(key: string): Promise<World> {
    const [runId = ''] = key.split(':');
    const found = this.dialogs.get(runId) ?? this.dialogOf(runId);
    this.dialogs.set(runId, found);
    return this.world(await found);
  }

  private async dialogOf(runId: string): Promise<string> {
    const { api } = this;
    if (!api) throw new Error('a call came before anybody could be asked about its run');
    const run = await api.patiently(() => api.call<{ conversation_id: string }>('GET', `/v1/runs/${runId}`));
    return run.conversation_id;
  }
}
