import { Counter, Gauge, Histogram } from 'prom-client';
import type { Metrics } from '@runyard/service';
import type { LedgerObserver } from './ledger.process';

/** Commands that share a commit; one alone where nothing competes. */
const TOGETHER_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200];

export class LedgerMetrics implements LedgerObserver {
  private readonly reservations;
  private readonly together;
  private readonly tokens;
  private readonly unborn;

  constructor({ registry }: Metrics) {
    const registers = [registry];
    this.reservations = new Counter({
      name: 'runyard_budget_reservations_total',
      help: 'Answers to wishes to reserve',
      labelNames: ['outcome'],
      registers,
    });
    this.together = new Histogram({
      name: 'runyard_budget_commands_together',
      help: 'Commands of one owner that were decided together',
      buckets: TOGETHER_BUCKETS,
      registers,
    });
    this.tokens = new Counter({
      name: 'runyard_budget_settled_tokens_total',
      help: 'Tokens of settled runs',
      registers,
    });
    this.unborn = new Gauge({
      name: 'runyard_budget_unborn_reservations',
      help: 'Reservations older than a minute of which no run is known',
      registers,
    });
  }

  reserved(outcome: 'granted' | 'refused' | 'closed'): void {
    this.reservations.inc({ outcome });
  }

  committed(commands: number): void {
    this.together.observe(commands);
  }

  settled(tokens: number): void {
    this.tokens.inc(tokens);
  }

  foundUnborn(count: number): void {
    this.unborn.set(count);
  }
}
