import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { RunEvent } from '@runyard/contracts';
import { eventually, startSpecProcess } from '@runyard/testing';
import { SERVICES } from '../../../deploy/local/service-list';
import { familyWorld } from '../src/handlers/e2e/family';
import { ofType } from '../src/handlers/e2e/invariants';
import { outsideServer } from '../src/handlers/e2e/outside-server';
import type { OutsideServer } from '../src/handlers/e2e/outside-server';
import { placeIn } from '../src/handlers/e2e/script';
import { TestExecutor } from '../src/handlers/e2e/test-executor';
import { OWNER } from '../src/handlers/e2e/world';
import type { World } from '../src/handlers/e2e/world';
import { StormPeople } from './storm-people';
import { StormProcesses } from './storm-processes';
import { between, modelAnswer, oneOf, toolAnswer } from './storm-script';
import { StormTrees } from './storm-trees';

/**
 * Spec-only. Trees of delegated runs on real servers: executors and the ledger in processes that are killed (-9), executors
 * in this process that die right before or after something that they do, requests that come twice, people who pause,
 * resume and cancel, and caps that move meanwhile.
 */

const COMMAND_LINE = path.join(__dirname, '../../cli/src/main.ts');
/** Trees under way at once: more would only wait for two processors. */
const MOST_LIVE = 8;
/** One process is killed so often. */
const TREES_PER_KILL = 3;
/** Trees beyond those asked for, until there is something to see. */
const MOST_BEYOND = 60;

export class Storm implements AsyncDisposable {
  private readonly trees: StormTrees;
  private readonly people: StormPeople;
  private readonly processes: StormProcesses;

  private constructor(
    readonly world: World,
    /** Takes part in nothing: people talk to it. */
    readonly steady: TestExecutor,
    private readonly outside: OutsideServer,
  ) {
    this.trees = new StormTrees(world, steady);
    this.people = new StormPeople(world, steady, this.trees);
    this.processes = new StormProcesses(world, outside);
  }

  /** Every root that was asked for. */
  get roots() {
    return this.trees.roots;
  }

  /** How often people moved a cap or took a run's controls, and how often something was said twice. */
  get did() {
    return { ...this.people.did, twice: this.trees.twice };
  }

  /** Who was killed, or died inside. */
  get died() {
    return this.processes.died;
  }

  static async brew(): Promise<Storm> {
    const schemas = SERVICES.filter(({ service }) => service === 'budget-ledger');
    const world = await familyWorld({ schemas }, { approvalPolicy: 'end' });
    world.outside.remembers = false;
    world.outside.script = {
      model: ({ messages, maxOutputTokens }) => modelAnswer({ ...placeIn(messages), maxOutputTokens }),
      tool: toolAnswer,
    };
    const outside = await outsideServer((call) => (call.what === 'model' ? modelAnswer(call) : toolAnswer()));
    const steady = await TestExecutor.start(world, null, { works: false });
    const storm = new Storm(world, steady, outside);
    await storm.processes.start();
    await storm.people.setCap(OWNER, 150_000);
    return storm;
  }

  /**
   * Everything at once, until so many trees were started and what it is about was seen: by chance all may be skipped, or
   * nobody killed with a run in hand. The more trees there are, the more is killed.
   */
  async blow(trees: number): Promise<void> {
    for (let round = 0; this.roots.size < trees || !(await this.wasSeen()); round++) {
      if (this.roots.size > trees + MOST_BEYOND) throw new Error('No storm has come about');
      const most = this.roots.size + Math.max(1, Math.min(TREES_PER_KILL, trees - this.roots.size));
      let killed = false;
      const killing = this.processes.kill(round).finally(() => (killed = true));
      while (this.roots.size < most || !killed) {
        await this.processes.replaceDead();
        // Whoever is asked may be dead: that is what this is about.
        await this.move(most).catch(() => undefined);
        await wait(between(5, 40));
      }
      await killing;
    }
    await this.people.cancelOne();
  }

  /** Runs were taken over, children were born, and the ledger died meanwhile. */
  private async wasSeen(): Promise<boolean> {
    if (this.died.ledgersKilled === 0) return false;
    const trees = await Promise.all([...this.roots.values()].map(({ runId }) => this.trees.of(runId)));
    const runs = trees.flatMap((tree) => [...tree.values()]);
    const isChild = (events: readonly RunEvent[]) =>
      ofType(events, 'RunQueued').some(({ data }) => data.depth > 0);
    return runs.some(isChild) && runs.some((events) => ofType(events, 'RunRecovered').length > 0);
  }

  /** No more harm: what was paused goes on, every request comes once more, and all trees end. */
  async calm(withinMs: number): Promise<void> {
    await this.people.liftCap();
    await this.trees.requestAll();
    await eventually(
      async () => {
        await this.processes.replaceDead();
        const live = await this.trees.live();
        for (const runId of live) await this.people.goOn(runId);
        return live.length === 0;
      },
      { withinMs, everyMs: 1_000 },
    );
  }

  /** `runyard audit` over what the storm has left; its exit code. */
  async audit(): Promise<number | null> {
    const folder = mkdtempSync(path.join(tmpdir(), 'runyard-storm-'));
    const connection = { nats_url: this.world.nats.url, database_url: this.world.database.ownerUrl };
    const file = path.join(folder, 'connection.json');
    writeFileSync(file, JSON.stringify(connection));
    try {
      return await startSpecProcess(COMMAND_LINE, ['--connection', file, 'audit']).ended;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.processes.stop();
    await this.world[Symbol.asyncDispose]();
    await this.outside[Symbol.asyncDispose]();
  }

  private async move(most: number): Promise<unknown> {
    const dice = Math.random();
    const live = await this.trees.live();
    const one = oneOf(live);
    const another = live.length < MOST_LIVE && this.roots.size < most;
    if (another && (!one || dice < 0.5)) return this.trees.startRoot();
    if (!one) return;
    if (dice < 0.65) return this.trees.sayTwice(one);
    if (dice < 0.75) return this.people.moveCap();
    return this.people.control(one);
  }
}
