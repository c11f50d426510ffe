import { rewardOf, stateOf } from '../airline/rewards';
import { startAirline } from '../airline/server';
import type { CarriedOut, RunningAirline } from '../airline/server';
import { callTool } from '../airline/tools';
import { newWorld, readLibrary } from '../airline/world';
import type { Library, World } from '../airline/world';
import type { Api } from './api';
import type { Dialog, Source } from './source';

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
  carriedOut(): CarriedOut[] {
    return this.airline?.carriedOut() ?? [];
  }

  arrived(): ReturnType<RunningAirline['arrived']> {
    return this.airline?.arrived() ?? new Map();
  }

  answerTo(key: string): string | undefined {
    return this.airline?.answerTo(key);
  }

  /** The dialog of a run, asked for once. */
  dialogOf(runId: string): Promise<string> {
    const found = this.dialogs.get(runId) ?? this.conversationOf(runId);
    this.dialogs.set(runId, found);
    return found;
  }

  /**
   * How many calls were carried out, and how many worlds are as the recorded calls leave them. `changed` dialogs went another
   * way and are not compared. One recorded world does not agree with its reward: a cap cut it before it was judged.
   */
  summary(changed: ReadonlySet<string>): { good: boolean; text: string } {
    const compared = this.source.dialogs.filter(({ name }) => !changed.has(name));
    const different = compared.filter((dialog) => this.stateAfter(dialog) !== this.plainState(dialog)).length;
    const agreeing = compared.filter((dialog) => this.agrees(dialog)).length;
    const carriedOut = this.carriedOut();
    const once = new Set(carriedOut.map(({ key }) => key)).size === carriedOut.length;
    const text = `live: calls carried out ${carriedOut.length}, each once ${once ? 'yes' : 'NO'}, states that agree with the rewards ${agreeing} of ${compared.length}, other than plain ones ${different}`;
    return { good: once && different === 0, text };
  }

  async stop(): Promise<void> {
    await this.airline?.stop();
  }

  private agrees(dialog: Dialog): boolean {
    const { source } = dialog;
    return rewardOf(this.library, source, this.stateAfter(dialog), source.traj) === source.reward;
  }

  private stateAfter({ name }: Dialog): string {
    return stateOf(this.library, this.world(name));
  }

  /** The world after the recorded calls, one after another and without the product. */
  private plainState({ source }: Dialog): string {
    const world = newWorld(this.library);
    for (const { tool_calls } of source.traj)
      for (const { function: call } of tool_calls ?? [])
        callTool(world, call.name, JSON.parse(call.arguments) as object);
    return stateOf(this.library, world);
  }

  private world(dialog: string): World {
    const world = this.worlds.get(dialog) ?? newWorld(this.library);
    this.worlds.set(dialog, world);
    return world;
  }

  private async worldOf(key: string): Promise<World> {
    const [runId = ''] = key.split(':');
    return this.world(await this.dialogOf(runId));
  }

  private async conversationOf(runId: string): Promise<string> {
    const { api } = this;
    if (!api) throw new Error('a call came before anybody could be asked about its run');
    const run = await api.patiently(() => api.call<{ conversation_id: string }>('GET', `/v1/runs/${runId}`));
    return run.conversation_id;
  }
}
