import type { Caller } from '@runyard/contracts';
import { NatsRpcClient } from '@runyard/service';
import { eventually } from '@runyard/testing';
import { HELPER_OWNER } from '../src/handlers/e2e/family';
import type { TestExecutor } from '../src/handlers/e2e/test-executor';
import { CALLER, OWNER, TERMINAL } from '../src/handlers/e2e/world';
import type { World } from '../src/handlers/e2e/world';
import { between, oneOf } from './storm-script';
import type { StormTrees } from './storm-trees';

const ADMIN: Caller = { ...CALLER, roles: ['admin'] };
/** More than all trees together spend. */
const PLENTY = 100_000_000;
const DELEGATED = ['ChildGranted', ...TERMINAL];

/** Spec-only. What people do during a storm: they pause, resume and cancel runs, and move the owners' caps. */
export class StormPeople {
  readonly did = { caps: 0, controls: 0 };

  constructor(
    private readonly world: World,
    /** Who they talk to. */
    private readonly steady: TestExecutor,
    private readonly trees: StormTrees,
  ) {}

  /** One of a tree's runs is paused, resumed or cancelled: the root more often than not. */
  async control(rootId: string): Promise<void> {
    this.did.controls += 1;
    const runId = Math.random() < 0.6 ? rootId : (oneOf([...(await this.trees.of(rootId)).keys()]) ?? rootId);
    const controls = this.steady.controls;
    const dice = Math.random();
    if (dice < 0.4) await controls.cancel(ADMIN, { run_id: runId });
    else if (dice < 0.7) await controls.pause(ADMIN, { run_id: runId });
    else await controls.resume(ADMIN, { run_id: runId });
  }

  /** A tree is cancelled for certain, in the midst of its work. */
  async cancelOne(): Promise<void> {
    await this.liftCap();
    for (let cancelled = false; !cancelled;) {
      const runId = await this.trees.startRoot();
      const news = async () => (await this.world.types(runId)).some((type) => DELEGATED.includes(type));
      await eventually(news, { withinMs: 120_000 });
      cancelled = await this.steady.controls.cancel(ADMIN, { run_id: runId }).then(
        ({ cancel_requested, state }) => cancel_requested || state === 'cancelled',
        () => false,
      );
    }
  }

  /** Whatever of a tree waits for people goes on, and what waits for a lost word hears it again. */
  async goOn(rootId: string): Promise<void> {
    for (const [runId, events] of await this.trees.of(rootId)) {
      if (events.some(({ type }) => TERMINAL.includes(type))) continue;
      await this.steady.controls.resume(ADMIN, { run_id: runId }).catch(() => undefined);
      await this.trees.remind(runId);
    }
  }

  /** A quarter of the time below what is spent already. */
  async moveCap(): Promise<void> {
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

  /** The roots' owner may spend more than all trees need. */
  liftCap(): Promise<void> {
    return this.setCap(OWNER, PLENTY);
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
}
