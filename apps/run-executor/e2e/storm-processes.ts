import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { NatsRpcClient } from '@runyard/service';
import { startSpecProcess } from '@runyard/testing';
import type { SpecProcess } from '@runyard/testing';
import { ledgerBudgets } from '../src/handlers/budgets.adapter';
import type { OutsideServer } from '../src/handlers/e2e/outside-server';
import { CrashTap } from '../src/handlers/e2e/taps';
import { TestExecutor } from '../src/handlers/e2e/test-executor';
import type { World } from '../src/handlers/e2e/world';
import { between } from './storm-script';

const EXECUTOR_CHILD = path.join(__dirname, '../src/handlers/e2e/executor-child.ts');
const LEDGER_CHILD = path.join(__dirname, '../../budget-ledger/e2e/ledger-child.ts');
const MORTALS = 2;

/** Spec-only. Who works during a storm, and dies: an executor and the ledger in processes, and executors in this one. */
export class StormProcesses {
  readonly died = { executorsKilled: 0, diedInside: 0, ledgersKilled: 0 };
  private readonly mortals = new Set<TestExecutor>();
  private readonly executors: SpecProcess[] = [];
  private ledger: SpecProcess | undefined;

  constructor(
    private readonly world: World,
    private readonly outside: OutsideServer,
  ) {}

  async start(): Promise<void> {
    await Promise.all([this.startLedger(), this.startExecutor()]);
  }

  /** Kills a process after a while, the ledger and an executor in turn; another takes its place. */
  async kill(round: number): Promise<void> {
    await wait(between(100, 800));
    if (round % 2 === 0) await this.killLedger();
    else await this.killExecutor();
  }

  /** Executors of this process die at a moment of their own. */
  async replaceDead(): Promise<void> {
    for (const mortal of this.mortals) {
      if (mortal.alive) continue;
      this.died.diedInside += 1;
      this.mortals.delete(mortal);
    }
    while (this.mortals.size < MORTALS)
      this.mortals.add(await this.startMortal(new CrashTap(between(20, 300))));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.executors, ...(this.ledger ? [this.ledger] : [])].map((one) => one.kill()));
  }

  private startMortal(tap: CrashTap): Promise<TestExecutor> {
    const budgets = (connection: ConstructorParameters<typeof NatsRpcClient>[0]) =>
      ledgerBudgets(new NatsRpcClient(connection));
    return TestExecutor.start(this.world, null, { tap, budgets });
  }

  private async startExecutor(): Promise<void> {
    const { nats, database } = this.world;
    const urls = [nats.url, database.urlFor('run-executor'), database.acrossUrlFor('run-executor')];
    const child = startSpecProcess(EXECUTOR_CHILD, [...urls, this.outside.url, 'ledger']);
    this.executors.push(child);
    await child.message((message): message is object => typeof message === 'object' && message !== null);
  }

  private async startLedger(): Promise<void> {
    const { nats, database } = this.world;
    const urls = [nats.url, database.urlFor('budget-ledger'), database.acrossUrlFor('budget-ledger')];
    this.ledger = startSpecProcess(LEDGER_CHILD, urls);
    await this.ledger.message((message): message is 'serving' => message === 'serving');
  }

  private async killExecutor(): Promise<void> {
    await this.executors.shift()?.kill();
    this.died.executorsKilled += 1;
    await this.startExecutor();
  }

  private async killLedger(): Promise<void> {
    await this.ledger?.kill();
    this.died.ledgersKilled += 1;
    await this.startLedger();
  }
}
