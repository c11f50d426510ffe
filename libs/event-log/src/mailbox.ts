/** What a batch decided for one of its items. */
export type Settled<Result> = { value: Result } | { error: unknown };

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Coalesces concurrent calls for one key: those that arrive while a batch is under way make up the next batch, so that a
 * busy aggregate costs one append for many commands instead of a conflict for each (architecture, section 2). One batch
 * per key at a time; keys do not wait for each other.
 */
export class Mailbox<Item, Result> {
  private readonly waiting = new Map<string, Waiting<Item, Result>[]>();

  /**
   * `work` gets the items in order of arrival and answers each at the same index. If it throws, all items of the batch
   * are refused with that error.
   */
  constructor(
    private readonly work: (key: string, items: Item[]) => Promise<Settled<Result>[]>,
    private readonly mostTogether = 256,
  ) {}

  submit(key: string, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const entry = { item, resolve, reject };
      const queue = this.waiting.get(key);
      if (queue) return void queue.push(entry);
      this.waiting.set(key, [entry]);
      void this.drain(key);
    });
  }

  /** Keys with work under way or waiting. */
  get busyKeys(): number {
    return this.waiting.size;
  }

  private async drain(key: string): Promise<void> {
    for (;;) {
      const batch = this.waiting.get(key)?.splice(0, this.mostTogether) ?? [];
      if (batch.length === 0) return void this.waiting.delete(key);
      await this.settle(key, batch);
    }
  }

  private async settle(key: string, batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.work(key, batch.map((entry) => entry.item));
      batch.forEach((entry, index) => {
        const result = results[index];
        if (result && 'value' in result) entry.resolve(result.value);
        else entry.reject(result?.error ?? new Error('The batch gave no answer for this item'));
      });
    } catch (error) {
      batch.forEach((entry) => entry.reject(error));
    }
  }
}
