import type { RunEvent } from '@runyard/contracts';
import { eventually } from '@runyard/testing';
import { CancellationController } from '../src/handlers/cancellation.controller';
import { expectSoundTree, treeOf } from '../src/handlers/e2e/family';
import { expectQuiet, ofType } from '../src/handlers/e2e/invariants';
import { CALLER, TERMINAL } from '../src/handlers/e2e/world';
import { auditedBooks } from './budget-laws';
import type { Books } from './budget-laws';
import { Storm } from './storm';
import { STORM_TREES } from './storm.config';

jest.setTimeout(300_000 + STORM_TREES * 10_000);

let storm: Storm;
/** Every root's tree: the events of each of its runs. */
const trees = new Map<string, Map<string, RunEvent[]>>();
beforeAll(async () => {
  storm = await Storm.brew();
  await storm.blow(STORM_TREES);
  await storm.calm(200_000);
  for (const { runId } of storm.roots.values()) trees.set(runId, await treeOf(storm.world, runId));
});
afterAll(() => storm?.[Symbol.asyncDispose]());

const all = (): [string, RunEvent[]][] => [...trees.values()].flatMap((tree) => [...tree]);
const count = (type: RunEvent['type']): number =>
  all().filter(([, events]) => ofType(events, type).length > 0).length;

it('was a storm', () => {
  const depths = all().flatMap(([, events]) => ofType(events, 'RunQueued').map(({ data }) => data.depth));
  const { did, died } = storm;
  console.log(
    `${storm.roots.size} trees of ${depths.length} runs, ${Math.max(...depths)} deep: ${JSON.stringify({ ...died, ...did })}, ` +
      `taken over ${count('RunRecovered')}, cancelled ${count('RunCancelled')}, skipped ${count('RunSkipped')}`,
  );
  expect(died.executorsKilled + died.diedInside).toBeGreaterThan(0);
  expect(died.ledgersKilled).toBeGreaterThan(0);
  expect(Math.max(...depths)).toBeGreaterThan(0);
  expect(count('RunRecovered')).toBeGreaterThan(0);
});

it('ends every run exactly once, each after all that it had delegated to, within what it was granted', async () => {
  for (const [, events] of all()) {
    expect(events.filter(({ type }) => TERMINAL.includes(type))).toHaveLength(1);
    expect(TERMINAL).toContain(events.at(-1)?.type);
  }
  for (const runId of trees.keys()) await expectSoundTree(storm.world, runId);
});

describe('the log of budgets', () => {
  let books: Books;
  beforeAll(async () => {
    books = await eventually(
      async () => {
        const found = await auditedBooks(storm.world.bus.log);
        return [...found.weeks.values()].every(({ held }) => held.size === 0) && found;
      },
      { withinMs: 120_000, everyMs: 250 },
    );
  });

  it('never had more settled and reserved than the cap at an admission, nothing negative, and gave everything back', () => {
    // The books would not have come about otherwise; that they are not empty remains to be seen.
    expect(books.settled.size).toBeGreaterThan(0);
    expect(books.settled.size + books.released.size).toBe(books.granted.size);
  });

  it('has settled every tree that was admitted once, at the tokens of all its runs', async () => {
    for (const [runId, tree] of trees) {
      const born = ofType(tree.get(runId) ?? [], 'RunQueued')[0];
      const where = { runId, admitted: born !== undefined };
      expect({ ...where, tokens: books.settled.get(runId) }).toEqual({
        ...where,
        tokens: born ? await expectSoundTree(storm.world, runId) : undefined,
      });
      if (born) expect(books.granted.get(runId)).toBe(born.data.grantTokens);
    }
  });
});

it('confirms every cancel for all below, by a receipt', async () => {
  const receipts = new CancellationController(storm.steady.executor);
  const admin = { ...CALLER, roles: ['admin' as const] };
  const cancelled = all().filter(([, events]) => ofType(events, 'RunCancelRequested').length > 0);
  expect(cancelled.length).toBeGreaterThan(0);
  for (const [runId, events] of cancelled) {
    const receipt = await receipts.receipt(admin, { run_id: runId });
    expect(receipt).toMatchObject({ run_id: runId, confirmed: true, unconfirmed: [] });
    // Nothing is granted to a child after the request, and those that were open were asked, too.
    const at = events.findIndex(({ type }) => type === 'RunCancelRequested');
    expect(ofType(events.slice(at), 'ChildGranted')).toEqual([]);
  }
});

it('leaves a ledger that agrees with the runs to the token', async () => {
  expect(await storm.audit()).toBe(0);
});

it('leaves rows that equal their replay, and nobody holds anything', () => expectQuiet(storm.world, []));
