import { Mailbox } from './mailbox';

describe('Mailbox', () => {
  it('decides together what arrives while a batch is under way', async () => {
    const batches: number[][] = [];
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const mailbox = new Mailbox<number, number>(async (_key, items) => {
      batches.push(items);
      await gate;
      return items.map((item) => ({ value: item * 2 }));
    });
    const results = Promise.all([1, 2, 3, 4].map((item) => mailbox.submit('budget', item)));
    release();
    expect(await results).toEqual([2, 4, 6, 8]);
    expect(batches).toEqual([[1], [2, 3, 4]]);
  });

  it('does not let keys wait for each other', async () => {
    const mailbox = new Mailbox<string, string>((key, items) =>
      key === 'stuck' ? new Promise(() => undefined) : Promise.resolve(items.map((value) => ({ value }))),
    );
    void mailbox.submit('stuck', 'x');
    expect(await mailbox.submit('free', 'y')).toBe('y');
    expect(mailbox.busyKeys).toBe(1);
  });

  it('refuses one item without the others, and all where the work itself fails', async () => {
    const mailbox = new Mailbox<number, number>(async (key, items) => {
      if (key === 'broken') throw new Error('down');
      return items.map((item) => (item < 0 ? { error: new Error('negative') } : { value: item }));
    });
    const [good, bad] = await Promise.allSettled([mailbox.submit('a', 1), mailbox.submit('a', -1)]);
    expect([good?.status, bad?.status]).toEqual(['fulfilled', 'rejected']);
    await expect(mailbox.submit('broken', 1)).rejects.toThrow('down');
    expect(await mailbox.submit('a', 2)).toBe(2);
    expect(mailbox.busyKeys).toBe(0);
  });

  it('takes at most so many together, and refuses an item that got no answer', async () => {
    const sizes: number[] = [];
    const mailbox = new Mailbox<number, number>(async (_key, items) => {
      sizes.push(items.length);
      return items.slice(1).map((value) => ({ value }));
    }, 3);
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => mailbox.submit('a', item)));
    expect(sizes).toEqual([1, 3, 1]);
    expect(results.filter((result) => result.status === 'rejected')).toHaveLength(3);
  });
});
