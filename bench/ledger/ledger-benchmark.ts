import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Caller, ReserveAnswer } from '@runyard/contracts';
import { NatsRpcClient, startService } from '@runyard/service';
import { BudgetLedgerModule } from '../../apps/budget-ledger/src/budget-ledger.module';
import { BUDGET_LEDGER_MIGRATIONS } from '../../apps/budget-ledger/src/migrations';
import { startStack } from '../../deploy/local/stack';
import type { Stack } from '../../deploy/local/stack';
import { throwawayFolder } from '../../deploy/local/throwaway';
import { median, percentile } from '../runs/statistics';
import { HELP, parseOptions } from './options';
import type { LedgerOptions } from './options';

const OWNERS = 1_000;
/** About what a commit with one reservation has. */
const BARE_BYTES = 500;
const BARE = 'bare-reservations';
const BARE_SUBJECT = 'bare-reservations.one';

const KINDS = ['bare', 'one owner', '1,000 owners'] as const;
type Kind = (typeof KINDS)[number];
interface Round {
  kind: Kind;
  perSecond: number;
  p50: number;
  p99: number;
  /** Processor time of this process a call, milliseconds: ledger, its projections and the client that asks. */
  cpu: number;
}

/** `npm run bench -- ledger`: what a reservation costs beside what the server allows at most. */
export async function ledgerBenchmark(args: string[]): Promise<number> {
  const options = parseOptions(args);
  if (!options) {
    console.log(HELP);
    return 0;
  }
  const classes: Record<string, Round[]> = {};
  for (const durability of options.classes) {
    classes[durability] = await measure(durability === 'B', options);
    console.log(report(durability, classes[durability]));
  }
  if (options.smoke) console.log('Everything works. A smoke run says nothing about speed.');
  const facts = { date: new Date().toISOString(), arguments: args, node: process.version, classes };
  if (options.json) writeFileSync(options.json, `${JSON.stringify(facts, null, 2)}\n`);
  return 0;
}

async function measure(durable: boolean, options: LedgerOptions): Promise<Round[]> {
  const folder = throwawayFolder('bench-ledger');
  const services = [{ service: 'budget-ledger', migrations: BUDGET_LEDGER_MIGRATIONS }];
  const stack = await startStack({ folder, durable, services });
  const app = await startService(BudgetLedgerModule.forRoot({ service: configOf(stack) }));
  // As the services connect: without it each call would take a stack trace, and the client would be what is measured.
  const connection = await connect({ servers: stack.natsUrl, noAsyncTraces: true });
  try {
    return await roundsOf(connection, options);
  } finally {
    await connection.close();
    await app.close();
    await stack.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const configOf = (stack: Stack) => ({
  nats: { servers: [stack.natsUrl] },
  database: { url: stack.urlOf('budget-ledger'), acrossUrl: stack.acrossUrlOf('budget-ledger'), poolSize: 4 },
  ops: null,
  logLevel: 'error' as const,
  rpcConcurrency: 1_024,
  shutdownMs: 10_000,
});

async function roundsOf(connection: NatsConnection, options: LedgerOptions): Promise<Round[]> {
  const caller: Caller = { org: randomUUID(), actor: 'system:bench', userId: null, roles: [] };
  const many = Array.from({ length: OWNERS }, () => randomUUID());
  const bare = await bareClient(connection);
  const reserve = (owner: string) => reservationOf(connection, caller, owner);
  // Weeks are opened and code is compiled before anything is measured.
  await timed('1,000 owners', (index) => reserve(many[index % OWNERS] ?? ''), {
    ...options,
    reservations: OWNERS,
  });
  const rounds: Round[] = [];
  for (let round = 0; round < options.rounds; round++) {
    // Each round is another owner's week: one that holds all that came before would not be that of one owner.
    const one = randomUUID();
    const calls: Record<Kind, (index: number) => Promise<unknown>> = {
      bare,
      'one owner': () => reserve(one),
      '1,000 owners': (index) => reserve(many[index % OWNERS] ?? ''),
    };
    for (const kind of KINDS) rounds.push(await timed(kind, calls[kind], options));
  }
  return rounds;
}

async function reservationOf(connection: NatsConnection, caller: Caller, owner: string): Promise<void> {
  const run = { run_id: `run_${randomUUID()}`, owner_id: owner };
  const input = { ...run, tokens: 200_000, smallest: 5_000 };
  const rpc = new NatsRpcClient(connection);
  const answer = await rpc.call<ReserveAnswer>('budget-ledger', 'budgets.reserve', caller, input, {
    timeoutMs: 30_000,
  });
  if (answer.outcome !== 'granted') throw new Error(`A reservation was ${answer.outcome}`);
}

async function bareClient(connection: NatsConnection): Promise<() => Promise<unknown>> {
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: BARE, subjects: [BARE_SUBJECT], storage: 'file', num_replicas: 1 });
  const client = jetstream(connection);
  const body = new Uint8Array(BARE_BYTES).fill(120);
  return () => client.publish(BARE_SUBJECT, body, { timeout: 30_000 });
}

/** As many calls at once as the options say, until all are answered. */
async function timed(
  kind: Kind,
  call: (index: number) => Promise<unknown>,
  { reservations, concurrency }: LedgerOptions,
): Promise<Round> {
  const latencies: number[] = [];
  let next = 0;
  const begun = performance.now();
  const spent = process.cpuUsage();
  const worker = async (): Promise<void> => {
    for (let index = next++; index < reservations; index = next++) {
      const at = performance.now();
      await call(index);
      latencies.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const perSecond = Math.round(reservations / ((performance.now() - begun) / 1_000));
  const { user, system } = process.cpuUsage(spent);
  const cpu = (user + system) / 1_000 / reservations;
  return { kind, perSecond, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), cpu };
}

function report(durability: string, rounds: readonly Round[]): string {
  const lines = KINDS.map((kind) => {
    const own = rounds.filter((round) => round.kind === kind);
    const of = (value: (round: Round) => number) => median(own.map(value));
    const perSecond = own.map((round) => round.perSecond);
    const spread = `${Math.min(...perSecond)} to ${Math.max(...perSecond)}`;
    return `  ${kind.padEnd(14)}${String(of((round) => round.perSecond)).padStart(7)}/s  (${spread})  p50 ${of((round) => round.p50).toFixed(1)} ms, p99 ${of((round) => round.p99).toFixed(1)} ms, processor ${of((round) => round.cpu).toFixed(2)} ms`;
  });
  return `class ${durability}, median of ${rounds.length / KINDS.length} rounds\n${lines.join('\n')}\n`;
}
