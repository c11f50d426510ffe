import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { requestSubject, workSubject } from '@runyard/contracts';
import type { Caller, RunEvent, RunRequest } from '@runyard/contracts';
import { NatsRpcClient } from '@runyard/service';
import { eventually, startSpecProcess } from '@runyard/testing';
import { SERVICES } from '../../../deploy/local/service-list';
import { openChildren } from '../src/domain/children';
import { isLive } from '../src/domain/run';
import { childRequest } from '../src/handlers/child-request';
import { familyWorld, HELPER_OWNER, treeOf } from '../src/handlers/e2e/family';
import { ofType } from '../src/handlers/e2e/invariants';
import { outsideServer } from '../src/handlers/e2e/outside-server';
import type { OutsideServer } from '../src/handlers/e2e/outside-server';
import { placeIn } from '../src/handlers/e2e/script';
import { TestExecutor } from '../src/handlers/e2e/test-executor';
import { CALLER, ORG, OWNER, TERMINAL } from '../src/handlers/e2e/world';
import type { World } from '../src/handlers/e2e/world';
import { StormProcesses } from './storm-processes';
import { between, modelAnswer, toolAnswer } from './storm-script';

/**
 * Spec-only. Trees of delegated runs on real servers: executors and the ledger in processes that are killed (-9), executors
 * in this process that die right before or after something that they do, requests that come twice, people who pause,
 * resume and cancel, and caps that move meanwhile.
 */

const COMMAND_LINE = path.join(__dirname, '../../cli/src/main.ts');
const ADMIN: Caller = { ...CALLER, roles: ['admin'] };
/** Trees under way at once: more would only wait for two processors. */
const MOST_LIVE = 8;
/** One process is killed so often. */
const TREES_PER_KILL = 3;
/** Trees beyond those asked for, until there is something to see. */
const MOST_BEYOND = 60;
/** More than all trees together spend. */
const PLENTY = 100_000_000;
const DELEGATED = ['ChildGranted', ...TERMINAL];

const oneOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(Math.random() * list.length)];

export class Storm implements AsyncDisposable {
  /** Every root that was asked for. */
  readonly roots = new Map<string, { runId: string; request: RunRequest }>();
  readonly did = { caps: 0, controls: 0, twice: 0 };
  private readonly ended = new Set<string>();
  private readonly processes: StormProcesses;

  private constructor(
    readonly world: World,
    /** Takes part in nothing: people talk to it. */
    readonly steady: TestExecutor,
    private readonly outside: OutsideServer,
  ) {
    this.processes = new StormProcesses(world, outside);
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
    await storm.setCap(OWNER, 150_000);
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
    await this.cancelOne();
  }

  /** Runs were taken over, children were born, and the ledger died meanwhile. */
  private async wasSeen(): Promise<boolean> {
    if (this.died.ledgersKilled === 0) return false;
    const trees = await Promise.all([...this.roots.values()].map(({ runId }) => this.tree(runId)));
    const runs = trees.flatMap((tree) => [...tree.values()]);
    const isChild = (events: readonly RunEvent[]) =>
      ofType(events, 'RunQueued').some(({ data }) => data.depth > 0);
    return runs.some(isChild) && runs.some((events) => ofType(events, 'RunRecovered').length > 0);
  }

  /** A tree is cancelled for certain, in the midst of its work. */
  private async cancelOne(): Promise<void> {
    await this.setCap(OWNER, PLENTY);
    for (let cancelled = false; !cancelled;) {
      const runId = await this.startRoot();
      const news = async () => (await this.world.types(runId)).some((type) => DELEGATED.includes(type));
      await eventually(news, { withinMs: 120_000 });
      cancelled = await this.steady.controls.cancel(ADMIN, { run_id: runId }).then(
        ({ cancel_requested, state }) => cancel_requested || state === 'cancelled',
        () => false,
      );
    }
  }

  /** No more harm: what was paused goes on, every request comes once more, and all trees end. */
  async calm(withinMs: number): Promise<void> {
    await this.setCap(OWNER, PLENTY);
    for (const { request } of this.roots.values()) await this.publish(request);
    await eventually(
      async () => {
        await this.processes.replaceDead();
        const live = await this.live();
        for (const runId of live) await this.goOn(runId);
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

  async setCap(ownerId: string, tokens: number | null): Promise<void> {
    await new NatsRpcClient(this.world.connection).call(
      'budget-ledger',
      'budgets.set_cap',
      ADMIN,
      { owner_id: ownerId, tokens },
      { timeoutMs: 30_000 },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.processes.stop();
    await this.world[Symbol.asyncDispose]();
    await this.outside[Symbol.asyncDispose]();
  }

  private async move(most: number): Promise<unknown> {
    const dice = Math.random();
    const live = await this.live();
    const one = oneOf(live);
    const another = live.length < MOST_LIVE && this.roots.size < most;
    if (another && (!one || dice < 0.5)) return this.startRoot();
    if (!one) return;
    if (dice < 0.65) return this.sayTwice(one);
    if (dice < 0.75) return this.moveCap();
    return this.control(one);
  }

  private async startRoot(): Promise<string> {
    const key = `storm ${this.roots.size}`;
    const request = this.world.requestFor(key, {
      agent_id: Math.random() < 0.2 ? 'helper' : 'agent',
      bounds: { token_budget: between(5_000, 50_000) },
    });
    this.roots.set(key, { runId: this.world.runId(key), request });
    await this.publish(request);
    if (Math.random() < 0.3) await this.publish(request);
    return this.world.runId(key);
  }

  private async publish(request: RunRequest): Promise<void> {
    await this.world.bus.queues.publish(requestSubject(ORG), request);
  }

  /** A request of a root or a child, or the word that a run may go on, comes again. */
  private async sayTwice(runId: string): Promise<void> {
    this.did.twice += 1;
    const { run } = await this.steady.executor.runs.load(ORG, runId);
    const call = isLive(run) ? oneOf(openChildren(run)) : undefined;
    if (call) return this.publish(childRequest(runId, call));
    const root = oneOf([...this.roots.values()]);
    if (root && Math.random() < 0.5) return this.publish(root.request);
    await this.world.bus.queues.publish(workSubject(ORG, runId), { run_id: runId });
  }

  /** A quarter of the time below what is spent already. */
  private async moveCap(): Promise<void> {
    this.did.caps += 1;
    const owner = Math.random() < 0.7 ? OWNER : HELPER_OWNER;
    const { settled } = await new NatsRpcClient(this.world.connection).call<{ settled: number }>(
      'budget-ledger',
      'budgets.get',
      ADMIN,
      { owner_id: owner },
    );
    const room = Math.random() < 0.25 ? between(-20_000, 0) : between(30_000, 250_000);
    await this.setCap(owner, Math.max(1_000, settled + room));
  }

  private async control(rootId: string): Promise<void> {
    this.did.controls += 1;
    const runId = Math.random() < 0.6 ? rootId : (oneOf([...(await this.tree(rootId)).keys()]) ?? rootId);
    const controls = this.steady.controls;
    const dice = Math.random();
    if (dice < 0.4) await controls.cancel(ADMIN, { run_id: runId });
    else if (dice < 0.7) await controls.pause(ADMIN, { run_id: runId });
    else await controls.resume(ADMIN, { run_id: runId });
  }

  private tree(rootId: string) {
    return treeOf(this.world, rootId);
  }

  /** Whatever waits for people goes on; what was lost with whoever had it in hand is said again. */
  private async goOn(rootId: string): Promise<void> {
    for (const [runId, events] of await this.tree(rootId)) {
      if (events.some(({ type }) => TERMINAL.includes(type))) continue;
      await this.steady.controls.resume(ADMIN, { run_id: runId }).catch(() => undefined);
      const { run } = await this.steady.executor.runs.load(ORG, runId);
      const open = isLive(run) ? openChildren(run) : [];
      for (const call of open) await this.publish(childRequest(runId, call));
      await this.world.bus.queues.publish(workSubject(ORG, runId), { run_id: runId });
    }
  }

  /** Roots without an end in their log; those that were not born yet among them. */
  private async live(): Promise<string[]> {
    const open = [...this.roots.values()].map(({ runId }) => runId).filter((id) => !this.ended.has(id));
    const lasts = await Promise.all(open.map((runId) => this.world.lastType(runId)));
    open.forEach((runId, index) => {
      if (TERMINAL.includes(lasts[index] ?? '')) this.ended.add(runId);
    });
    return open.filter((id) => !this.ended.has(id));
  }
}
