import type { ReserveAnswer } from '@runyard/contracts';
import type { Budgets, Change, Spender } from '../budgets.adapter';
import type { Tap } from './taps';

/** Spec-only: a ledger in memory, shared by the executors of a world. Nobody has a cap until a spec sets one. */
export class FakeBudgets implements Budgets {
  cap: number | null = null;
  /** What the ledger says instead of answering; undefined: it is there. */
  away: Error | undefined;
  readonly held = new Map<string, { tokens: number; cut: boolean; at?: number }>();
  /** What it was asked to change, in order. */
  readonly changes: { runId: string; tokens: number; reason: Change; at: number }[] = [];
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

  async change({ runId }: Spender, tokens: number, reason: Change, at: number): Promise<ReserveAnswer> {
    if (this.away) throw this.away;
    this.changes.push({ runId, tokens, reason, at });
    const held = this.held.get(runId);
    if (!held) return this.answer('refused', runId);
    if (at < (held.at ?? 0)) return this.answer('granted', runId);
    held.at = at;
    const room = reason === 'parked' ? 0 : Math.max(0, this.left);
    held.tokens = Math.min(tokens, held.tokens + room);
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
  change: (...asked) => tap.around('budget', () => budgets.change(...asked)),
  release: (...asked) => tap.around('budget', () => budgets.release(...asked)),
});
