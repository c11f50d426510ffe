import type { Control } from './controls';
import { freeTokens, openChildren } from './children';
import { spendOf } from './e2e/tree-events';
import { Trees } from './e2e/trees';
import type { Member } from './e2e/trees';
import { isLive } from './run';

jest.setTimeout(120_000);

const SEEDS = 2_000;
const MOVES = 120;

/** The same numbers for the same seed, on every machine. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const CONTROLS: readonly Control[] = [
  { type: 'PauseRun', expiresAt: 1e12 },
  { type: 'ResumeRun' },
  { type: 'ResumeRun' },
  { type: 'CancelRun', reason: 'user' },
];

function move(trees: Trees, index: number): void {
  const what = trees.random();
  const member = trees.pick(trees.live());
  if (what < 0.06 || !member) return trees.start(`root${index}`, 2_000 + Math.floor(trees.random() * 40_000));
  if (what < 0.09) {
    trees.ledger.cap = Math.floor(trees.random() * 120_000);
    return;
  }
  if (what < 0.14) return trees.control(member, trees.pick(CONTROLS) ?? { type: 'ResumeRun' });
  if (what < 0.22) return trees.drive(member, true);
  if (what < 0.45) return trees.deliver();
  trees.drive(member);
}

/** What a run has spent itself, booked call by call. */
const ownOf = ({ log }: Member): number =>
  log.reduce((sum, { data }) => ('usage' in data ? sum + data.usage.input + data.usage.output : sum), 0);

/** The same as the run's own state or end has it, which is at hand. */
function soFar({ run, log }: Member): number {
  if (isLive(run)) return run.usedTokens;
  const end = log.at(-1);
  return end && 'spend' in end.data ? (end.data.spend?.own ?? 0) : 0;
}

/** What must hold at every instant. */
function check(trees: Trees): void {
  const spent = new Map<string, number>();
  for (const member of trees.members.values()) {
    const root = member.id.split('.')[0] ?? '';
    spent.set(root, (spent.get(root) ?? 0) + soFar(member));
    if (!isLive(member.run)) continue;
    if (freeTokens(member.run) < 0)
      throw new Error(`${member.id} gave away or spent more than it was granted`);
    if (openChildren(member.run).some(({ child }) => child.grantTokens <= 0))
      throw new Error(`${member.id} granted nothing`);
  }
  for (const [root, { tokens }] of trees.ledger.held)
    if ((spent.get(root) ?? 0) > tokens) throw new Error(`the tree of ${root} spent more than it holds`);
}

/** Lets everything come to its end, with nobody hurting it. */
function drain(trees: Trees): void {
  for (let turn = 0; turn < 3_000 && (trees.live().length > 0 || trees.messages.length > 0); turn++) {
    while (trees.messages.length > 0) trees.messages.shift()?.();
    for (const member of trees.live()) {
      if (isLive(member.run) && member.run.situation === 'paused')
        trees.control(member, { type: 'ResumeRun' });
      trees.drive(member);
    }
  }
}

interface Tally {
  runs: number;
  deepest: number;
  cancelled: number;
  starved: number;
  lost: number;
}

function play(seed: number, tally: Tally): void {
  const trees = new Trees(seeded(seed), 100_000);
  for (let index = 0; index < MOVES; index++) {
    move(trees, index);
    check(trees);
  }
  drain(trees);
  check(trees);
  const members = [...trees.members.values()].filter(({ log }) => log.length > 0);
  const left = trees.live().map(({ id, run }) => [id, run.situation]);
  if (left.length > 0 || trees.ledger.held.size > 0) throw new Error(`unfinished: ${JSON.stringify(left)}`);
  const own = members.reduce((sum, member) => sum + ownOf(member), 0);
  if (trees.ledger.settled !== own) throw new Error(`settled ${trees.ledger.settled} of ${own}`);
  for (const member of members) expectOneEnd(member, members);
  tally.runs += members.length;
  for (const { log, id } of members) {
    tally.deepest = Math.max(tally.deepest, id.split('.c').length - 1);
    tally.cancelled += log.filter(({ type }) => type === 'RunCancelled').length;
    tally.lost += log.filter(({ type }) => type === 'RunRecovered').length;
    tally.starved += log.filter(
      (event) => event.type === 'RunFailed' && event.data.reason === 'weekly_budget',
    ).length;
  }
}

/** One end, nothing after it, and every child settled before it at what that child says. */
function expectOneEnd({ id, log }: Member, members: readonly Member[]): void {
  const ends = log.filter(({ type }) => ['RunSucceeded', 'RunFailed', 'RunCancelled'].includes(type));
  if (ends.length !== 1 || log.at(-1) !== ends[0]) throw new Error(`${id} ended ${ends.length} times`);
  const granted = log.flatMap((event) => (event.type === 'ChildGranted' ? [event.data.childRunId] : []));
  const settled = log.flatMap((event) => (event.type === 'ChildSettled' ? [event.data] : []));
  if (
    granted.toSorted().join() !==
    settled
      .map(({ childRunId }) => childRunId)
      .toSorted()
      .join()
  )
    throw new Error(`${id} did not settle each child once`);
  for (const { childRunId, tokens } of settled) {
    const end = members.find((one) => one.id === childRunId)?.log.at(-1);
    if (!end || spendOf(end) !== tokens) throw new Error(`${childRunId} was settled at ${tokens}`);
  }
}

it('keeps trees within their grants and all of them within the cap, and gives everything back in the end', () => {
  const tally: Tally = { runs: 0, deepest: 0, cancelled: 0, starved: 0, lost: 0 };
  for (let seed = 1; seed <= SEEDS; seed++) {
    try {
      play(seed, tally);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
  // A simulation in which nothing happens proves nothing.
  expect(tally.runs).toBeGreaterThan(SEEDS * 5);
  expect(tally.deepest).toBeGreaterThan(1);
  expect(tally.cancelled).toBeGreaterThan(SEEDS / 2);
  expect(tally.lost).toBeGreaterThan(SEEDS);
  expect(tally.starved).toBeGreaterThan(10);
});
