import { setImmediate as nextTurn } from 'node:timers/promises';
import { Arrivals } from './arrivals';
import { countedCommit } from './spec/counting-projection';
import type { ProjectedCommit } from './types';

/** Far longer than any spec here may take: what ends the waiting is never the clock. */
const LONG_MS = 60_000;

/** A source that gives what it is told to. */
class Tap {
  private readonly given: (readonly ProjectedCommit[])[] = [];
  private wake: () => void = () => undefined;

  give(...sequences: number[]): void {
    this.given.push(sequences.map((sequence) => countedCommit(sequence)));
    this.wake();
  }

  async *batches(): AsyncGenerator<readonly ProjectedCommit[]> {
    for (;;) {
      const batch = this.given.shift();
      if (batch) yield batch;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}

const sequences = (batch: readonly ProjectedCommit[] | undefined) => batch?.map(({ sequence }) => sequence);

it('gathers until there are enough, in order', async () => {
  const tap = new Tap();
  const arrivals = new Arrivals(tap.batches(), 100);
  const taken = arrivals.take(3, LONG_MS);
  tap.give(1);
  await nextTurn();
  tap.give(2);
  await nextTurn();
  tap.give(3, 4);
  expect(sequences(await taken)).toEqual([1, 2, 3]);
  expect(sequences(await arrivals.take(1, LONG_MS))).toEqual([4]);
});

it('lets nobody wait who is in a hurry, and gathers again afterwards', async () => {
  const tap = new Tap();
  const arrivals = new Arrivals(tap.batches(), 100);
  const taken = arrivals.take(9, LONG_MS);
  tap.give(1);
  await nextTurn();
  arrivals.hurry();
  expect(sequences(await taken)).toEqual([1]);
  arrivals.hurry();
  tap.give(2);
  expect(sequences(await arrivals.take(9, LONG_MS))).toEqual([2]);
  const next = arrivals.take(2, LONG_MS);
  tap.give(3);
  await nextTurn();
  tap.give(4);
  expect(sequences(await next)).toEqual([3, 4]);
});

it('does not let what waited during a batch wait once more', async () => {
  const tap = new Tap();
  const arrivals = new Arrivals(tap.batches(), 100);
  tap.give(1);
  const first = await arrivals.take(9);
  expect(sequences(first)).toEqual([1]);
  tap.give(2);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(sequences(await arrivals.take(9, 1))).toEqual([2]);
});

it('waits without gathering for one commit only', async () => {
  const tap = new Tap();
  const arrivals = new Arrivals(tap.batches(), 100);
  const taken = arrivals.take(9);
  tap.give(1);
  expect(sequences(await taken)).toEqual([1]);
});
