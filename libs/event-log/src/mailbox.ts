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
    for (let more = true; more;) {
      const queue = this.waiting.get(key) ?? [];
      const batch = queue.splice(0, this.mostTogether);
      const results = await this.results(
        key,
        batch.map((entry) => entry.item),
      );
      more = queue.length > 0;
      if (!more) this.waiting.delete(key); // before anybody hears of a result and submits the next item
      batch.forEach((entry, index) => settle(entry, results[index]));
    }
  }

  private async results(key: string, items: Item[]): Promise<Settled<Result>[]> {
    try {
      return await this.work(key, items);
    } catch (error) {
      return items.map(() => ({ error }));
    }
  }
}

function settle<Result>(entry: Waiting<unknown, Result>, result: Settled<Result> | undefined): void {
  if (result && 'value' in result) entry.resolve(result.value);
  else entry.reject(result?.error ?? new Error('The batch gave no answer for this item'));
}
