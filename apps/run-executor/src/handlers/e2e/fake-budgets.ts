import type { ReserveAnswer } from '@runyard/contracts';
import type { Budgets, Spender } from '../budgets.adapter';
import type { Tap } from './taps';

/** Spec-only: a ledger in memory, shared by the executors of a world. Nobody has a cap until a spec sets one. */
export class FakeBudgets implements Budgets {
  cap: number | null = null;
  /** What the ledger says instead of answering; undefined: it is there. */
  away: Error | undefined;
  readonly held = new Map<string, { tokens: number; cut: boolean }>();
  readonly released = new Set<string>();

  async reserve(spender: Spender, tokens: number, smallest: number): Promise<ReserveAnswer> {
    if (this.away) throw this.away;
    const { runId } = spender;
    if (this.released.has(runId)) return this.answer('closed', runId);
    if (!this.held.has(runId)) {
      const granted = Math.min(tokens, this.left);
      if (granted < smallest) return this.answer('refused', runId);
      this.held.set(runId, { tokens: granted, cut: granted < tokens });
    }
    return this.answer('granted', runId);
  }

  async extend({ runId }: Spender, tokens: number): Promise<ReserveAnswer> {
    if (this.away) throw this.away;
    const held = this.held.get(runId);
    if (!held) return this.answer('refused', runId);
    held.tokens = Math.min(tokens, held.tokens + Math.max(0, this.left));
    return this.answer('granted', runId);
  }

  async release({ runId }: Spender): Promise<void> {
    if (this.away) throw this.away;
    this.held.delete(runId);
    this.released.add(runId);
  }

  private get left(): number {
    if (this.cap === null) return Infinity;
    return this.cap - [...this.held.values()].reduce((sum, { tokens }) => sum + tokens, 0);
  }

  private answer(outcome: ReserveAnswer['outcome'], runId: string): ReserveAnswer {
    const held = this.held.get(runId) ?? { tokens: 0, cut: false };
    const left = this.cap === null ? null : this.left + held.tokens;
    return { outcome, ...held, weekly_left: left, week: '2026-11-29' };
  }
}

/** Reserving changes something outside of the process, so a process may die before and after it. */
export const tappedBudgets = (budgets: Budgets, tap: Tap): Budgets => ({
  reserve: (...asked) => tap.around('budget', () => budgets.reserve(...asked)),
  extend: (...asked) => tap.around('budget', () => budgets.extend(...asked)),
  release: (...asked) => tap.around('budget', () => budgets.release(...asked)),
});
