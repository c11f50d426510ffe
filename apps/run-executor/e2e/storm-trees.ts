import { requestSubject, workSubject } from '@runyard/contracts';
import type { RunEvent, RunRequest } from '@runyard/contracts';
import { openChildren } from '../src/domain/children';
import { isLive } from '../src/domain/run';
import { childRequest } from '../src/handlers/child-request';
import { treeOf } from '../src/handlers/e2e/family';
import type { TestExecutor } from '../src/handlers/e2e/test-executor';
import { ORG, TERMINAL } from '../src/handlers/e2e/world';
import type { World } from '../src/handlers/e2e/world';
import { between, oneOf } from './storm-script';

/** Spec-only. The trees of a storm: which were asked for, which go on, and the messages about them, which come twice at times. */
export class StormTrees {
  /** Every root that was asked for. */
  readonly roots = new Map<string, { runId: string; request: RunRequest }>();
  /** Messages that came again. */
  twice = 0;
  private readonly ended = new Set<string>();

  constructor(
    private readonly world: World,
    /** Reads the runs. */
    private readonly steady: TestExecutor,
  ) {}

  of(rootId: string): Promise<Map<string, RunEvent[]>> {
    return treeOf(this.world, rootId);
  }

  async startRoot(): Promise<string> {
    const key = `storm ${this.roots.size}`;
    const request = this.world.requestFor(key, {
      agent_id: Math.random() < 0.2 ? 'helper' : 'agent',
      bounds: { token_budget: between(5_000, 50_000) },
    });
    this.roots.set(key, { runId: this.world.runId(key), request });
    await this.request(request);
    if (Math.random() < 0.3) await this.request(request);
    return this.world.runId(key);
  }

  /** A request of a root or a child, or the word that a run may go on, comes again. */
  async sayTwice(runId: string): Promise<void> {
    this.twice += 1;
    const call = oneOf(await this.openRequests(runId));
    if (call) return this.request(call);
    const root = oneOf([...this.roots.values()]);
    if (root && Math.random() < 0.5) return this.request(root.request);
    await this.tellRunnable(runId);
  }

  /** Every request of a root comes once more. */
  async requestAll(): Promise<void> {
    for (const { request } of this.roots.values()) await this.request(request);
  }

  /** What was lost with whoever had the run in hand is said again. */
  async remind(runId: string): Promise<void> {
    for (const request of await this.openRequests(runId)) await this.request(request);
    await this.tellRunnable(runId);
  }

  /** Roots without an end in their log; those that were not born yet among them. */
  async live(): Promise<string[]> {
    const open = [...this.roots.values()].map(({ runId }) => runId).filter((id) => !this.ended.has(id));
    const lasts = await Promise.all(open.map((runId) => this.world.lastType(runId)));
    open.forEach((runId, index) => {
      if (TERMINAL.includes(lasts[index] ?? '')) this.ended.add(runId);
    });
    return open.filter((id) => !this.ended.has(id));
  }

  /** The requests of children that the run waits for. */
  private async openRequests(runId: string): Promise<RunRequest[]> {
    const { run } = await this.steady.executor.runs.load(ORG, runId);
    return isLive(run) ? openChildren(run).map((call) => childRequest(runId, call)) : [];
  }

  private async request(request: RunRequest): Promise<void> {
    await this.world.bus.queues.publish(requestSubject(ORG), request);
  }

  private async tellRunnable(runId: string): Promise<void> {
    await this.world.bus.queues.publish(workSubject(ORG, runId), { run_id: runId });
  }
}
