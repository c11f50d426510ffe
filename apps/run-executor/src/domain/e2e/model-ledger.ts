/** Spec-only: the rules of the budget ledger in a few lines (its own deciders have a simulation of their own). */
export class ModelLedger {
  readonly held = new Map<string, { tokens: number; at: number }>();
  readonly done = new Map<string, number>();

  constructor(public cap: number) {}

  get settled(): number {
    return [...this.done.values()].reduce((sum, tokens) => sum + tokens, 0);
  }

  get reserved(): number {
    return [...this.held.values()].reduce((sum, { tokens }) => sum + tokens, 0);
  }

  /** What is granted; 0: less is left than the run needs to begin. */
  reserve(id: string, tokens: number, smallest: number): number {
    const granted = Math.min(tokens, this.cap - this.settled - this.reserved);
    if (this.held.has(id) || this.done.has(id) || granted < smallest) return 0;
    this.held.set(id, { tokens: granted, at: 0 });
    this.admitted();
    return granted;
  }

  park(id: string, tokens: number, at: number): void {
    const held = this.held.get(id);
    if (held && at >= held.at) this.held.set(id, { tokens: Math.min(held.tokens, tokens), at });
  }

  wake(id: string, tokens: number, at: number): number {
    const held = this.held.get(id);
    if (!held) throw new Error(`${id} holds nothing`);
    const room = Math.max(0, this.cap - this.settled - this.reserved);
    const after = Math.min(tokens, held.tokens + room);
    this.held.set(id, { tokens: after, at });
    if (after > held.tokens) this.admitted();
    return after;
  }

  /** Once a run, whatever is said again. */
  settle(id: string, tokens: number): void {
    if (this.done.has(id)) return;
    const held = this.held.get(id)?.tokens ?? 0;
    if (tokens > held) throw new Error(`${id} spent ${tokens} of ${held}`);
    this.held.delete(id);
    this.done.set(id, tokens);
  }

  private admitted(): void {
    if (this.settled + this.reserved > this.cap) throw new Error('more was admitted than the cap allows');
  }
}
