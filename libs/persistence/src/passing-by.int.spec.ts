import { eventually, freshDatabase, MemorySource, projectedCommit } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import { mayHold, positionReached, runProjection } from '.';
import type { Database, ProjectedCommit, Projection } from '.';
import { readCheckpoint } from './checkpoints';
import { countedCommit, countingMigrations, countingProjection } from './spec/counting-projection';

jest.setTimeout(120_000);

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await freshDatabase([{ service: 'counting', migrations: countingMigrations }]);
  db = database.connect('counting');
});
afterAll(() => database.drop());

/** Counts every tenth commit. */
const TENTHS: Projection = {
  ...countingProjection,
  concerns: ({ sequence }) => sequence % 10 === 0,
};
const counted = async () => {
  const [row] = await db.acrossOrgs('spec', (tx) =>
    tx.query<{ commits: string; total: string }>(
      'SELECT sum(commits) AS commits, sum(total) AS total FROM counters',
    ),
  );
  return row;
};
const stored = async () => (await db.acrossOrgs('spec', (tx) => readCheckpoint(tx, TENTHS)))?.position;
const range = (from: number, to: number): ProjectedCommit[] =>
  Array.from({ length: to - from + 1 }, (_, index) => countedCommit(from + index));

function start(source: MemorySource, projection = TENTHS) {
  const stop = new AbortController();
  const batches: number[] = [];
  const running = runProjection({
    db,
    source,
    projection,
    signal: stop.signal,
    onBatch: ({ commits }) => batches.push(commits),
  });
  return { batches, stop: () => (stop.abort(), running) };
}

test('commits that do not concern a projection are passed by, and its checkpoint follows', async () => {
  const source = new MemorySource();
  const projector = start(source);
  source.append(...range(1, 25));
  expect(await positionReached(db, TENTHS, 25, 60_000)).toBe(true);
  expect(await counted()).toEqual({ commits: '2', total: '30' });
  for (let sequence = 26; sequence <= 29; sequence++) {
    source.append(countedCommit(sequence));
    expect(await positionReached(db, TENTHS, sequence, 60_000)).toBe(true);
  }
  // Another process sees them a moment later, though nothing else comes.
  expect(await positionReached(database.connect('counting'), TENTHS, 29, 60_000)).toBe(true);
  expect(await stored()).toBe(29);
  source.append(...range(30, 31));
  expect(await positionReached(db, TENTHS, 31, 60_000)).toBe(true);
  await projector.stop();
  expect(await stored()).toBe(31);
  expect(await counted()).toEqual({ commits: '3', total: '60' });
  expect(projector.batches.reduce((sum, commits) => sum + commits, 0)).toBe(3);
});

test('where nothing concerns it, thousands of batches take a handful of transactions', async () => {
  const source = new MemorySource();
  const projector = start(source, { ...TENTHS, name: 'none', concerns: () => false });
  const started = performance.now();
  for (let sequence = 1; sequence <= 2_000; sequence++) {
    source.append(countedCommit(sequence));
    await positionReached(db, { ...TENTHS, name: 'none' }, sequence, 60_000);
  }
  await projector.stop();
  // One every 200 ms, the first, and the last.
  expect(projector.batches.length).toBeLessThanOrEqual(3 + (performance.now() - started) / 200);
});

test('a bad commit among others that do not concern it is named and never passed by', async () => {
  const source = new MemorySource();
  let broken = true;
  const projection: Projection = {
    ...TENTHS,
    name: 'breaking',
    async apply(tx, commits) {
      if (broken && commits.some(({ sequence }) => sequence === 20)) await tx.query('SELECT 1 / 0');
      await TENTHS.apply(tx, commits);
    },
  };
  const projector = start(source, projection);
  source.append(...range(1, 39));
  await eventually(async () => {
    const at = await db.acrossOrgs('spec', (tx) => readCheckpoint(tx, projection));
    return at?.position === 10;
  });
  broken = false;
  expect(await positionReached(db, projection, 39, 60_000)).toBe(true);
  await projector.stop();
  expect(await counted()).toEqual({ commits: '6', total: '120' });
});

test('a look at the bytes finds every name of an event, and no other', () => {
  const org = '0197a0f0-0000-7000-8000-00000000000a';
  const text = 'says "runyard.RunCancelled.v1", "runyard. and nothing';
  const events = [
    { type: 'RunQueued' as const, data: { text } },
    { type: 'RunStarted' as const, data: {} },
  ];
  const commit = projectedCommit({ context: 'runs', org, id: 'run_1', events }, 1);
  expect(mayHold(commit, ['RunFailed', 'RunStarted'])).toBe(true);
  expect(mayHold(commit, ['RunQueued'])).toBe(true);
  expect(mayHold(commit, ['RunFailed', 'Run', 'RunQueue'])).toBe(false);
});
