import path from 'node:path';
import { eventually, freshDatabase, MemorySource, projectedCommit, startSpecProcess } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import { archiveProjection, positionReached, runProjection } from '.';
import type { CommitSource, Database, ProjectedCommit, Projection, ProjectorStatus } from '.';
import {
  countedCommit,
  countingMigrations,
  countingProjection,
  countingSource,
  INCARNATION,
  ORGS,
} from './spec/counting-projection';

jest.setTimeout(120_000);

const CHILD = path.join(__dirname, 'spec/projector-child.ts');
let database: TestDatabase;
let db: Database;
const projectors: { stop(): Promise<void> }[] = [];

beforeEach(async () => {
  database = await freshDatabase([{ service: 'counting', migrations: countingMigrations }]);
  db = database.connect('counting');
});
afterEach(async () => {
  await Promise.all(projectors.splice(0).map((projector) => projector.stop()));
  await database.drop();
});

const until = (check: () => unknown) => eventually(async () => (await check(), true));

interface Counter {
  org_id: string;
  id: string;
  commits: bigint;
  total: bigint;
  last: bigint;
}

const counters = (of = db) =>
  of.acrossOrgs('spec', (tx) =>
    tx.query<Counter>('SELECT org_id, id, commits, total, last FROM counters ORDER BY org_id, id'),
  );

/** What the counters must hold, computed from the stream itself and not from what was delivered. */
function expected(last: number): Counter[] {
  const rows = new Map<string, Counter>();
  for (let sequence = 1; sequence <= last; sequence++) {
    const [, , , org_id = '', id = ''] = countedCommit(sequence).subject.split('.');
    const row = rows.get(org_id + id) ?? { org_id, id, commits: 0n, total: 0n, last: 0n };
    rows.set(org_id + id, {
      ...row,
      commits: row.commits + 1n,
      total: row.total + BigInt(sequence),
      last: BigInt(sequence),
    });
  }
  return [...rows.values()].sort((a, b) => (a.org_id + a.id < b.org_id + b.id ? -1 : 1));
}

/** Starts a projector; `stop` waits for its end. */
function project(source: CommitSource, projection: Projection = countingProjection, of = db) {
  const stop = new AbortController();
  const statuses: ProjectorStatus[] = [];
  const alarms: string[] = [];
  const batches: number[] = [];
  const running = runProjection({
    db: of,
    source,
    projection,
    signal: stop.signal,
    onStatus: (status) => statuses.push(status),
    onBatch: ({ commits }) => batches.push(commits),
    onAlarm: (message) => alarms.push(message),
  });
  const projector = {
    statuses,
    alarms,
    batches,
    faults: () => statuses.flatMap(({ fault }) => fault ?? []),
    stop: () => (stop.abort(), running),
  };
  projectors.push(projector);
  return projector;
}

async function projectAll(
  source: CommitSource,
  last: number,
  projection = countingProjection,
): Promise<void> {
  const projector = project(source, projection);
  expect(await positionReached(db, projection, last, 30_000)).toBe(true);
  await projector.stop();
}

const locks = async () => {
  const owner = await db.dedicated('look at locks');
  try {
    const rows = await owner.query<{ pid: number }>(
      `SELECT l.pid FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    return rows.map(({ pid }) => pid);
  } finally {
    await owner.close();
  }
};

describe('a projector that is killed', () => {
  test.each([['counting'], ['archive']])('%s: five kill -9, every commit exactly once', async (name) => {
    const last = 20_000;
    const projection = name === 'archive' ? archiveProjection('RUNS') : countingProjection;
    const args = [database.urlFor('counting'), database.acrossUrlFor('counting'), String(last), name];
    let position = 0;
    for (let kill = 1; kill <= 5; kill++) {
      const child = startSpecProcess(CHILD, args);
      const goal = position + 1_000;
      const at = await child.message((m): m is ProjectorStatus => (m as ProjectorStatus).position >= goal);
      await child.kill();
      position = at.position;
    }
    expect(position).toBeLessThan(last);
    await projectAll(countingSource(last), last, projection);
    if (name === 'counting') return expect(await counters()).toEqual(expected(last));
    const [row] = await db.acrossOrgs('spec', (tx) =>
      tx.query<{ count: bigint; sum: string }>('SELECT count(*), sum(sequence) FROM archive.event_log'),
    );
    expect(row).toEqual({ count: BigInt(last), sum: String((last * (last + 1)) / 2) });
  });
});

describe('two projectors of one projection', () => {
  test('the second stands by and takes over when the first stops', async () => {
    const rival = database.connect('counting');
    const first = project(countingSource(1_000));
    await positionReached(db, countingProjection, 1_000, 30_000);
    const second = project(countingSource(3_000), countingProjection, rival);
    await until(() => expect(second.statuses.at(-1)?.state).toBe('waiting_for_lock'));
    await first.stop();
    expect(await positionReached(rival, countingProjection, 3_000, 30_000)).toBe(true);
    await second.stop();
    expect(await counters()).toEqual(expected(3_000));
  });

  test('a lock that is lost again and again while both run costs no commit and doubles none', async () => {
    const last = 30_000;
    const rival = database.connect('counting');
    const both = [project(countingSource(last)), project(countingSource(last), countingProjection, rival)];
    let losses = 0;
    while (!(await positionReached(db, countingProjection, last, 100))) {
      for (const pid of await locks()) {
        const owner = await db.dedicated('end a lock');
        await owner.query('SELECT pg_terminate_backend($1)', [pid]);
        await owner.close();
        losses++;
      }
    }
    await Promise.all(both.map((projector) => projector.stop()));
    expect(losses).toBeGreaterThan(0);
    expect(await counters()).toEqual(expected(last));
  });

  /** A source whose reader loses its lock: a rival applies 1 to 40 between its reading of the checkpoint and its own move. */
  function overtaken(): CommitSource {
    let moved = false;
    const source = countingSource(100);
    return {
      state: source.state,
      async *read(after, signal, until) {
        if (!moved) {
          moved = true;
          await db.acrossOrgs('a rival', (tx) =>
            tx.query(`UPDATE projection_checkpoints SET position = 40 WHERE projection = 'counting'`),
          );
          await db.acrossOrgs('a rival', (tx) => countingProjection.apply(tx, range(1, 40)));
        }
        yield* source.read(after, signal, until);
      },
    };
  }

  test('one that has lost its lock without noticing rolls back: the guarded checkpoint matches no row', async () => {
    await projectAll(overtaken(), 100);
    expect(await counters()).toEqual(expected(100));
  });

  test('one that acts outside of its transaction does nothing there before its checkpoint has moved', async () => {
    const acted: number[] = [];
    const reaction: Projection = {
      ...countingProjection,
      reacts: true,
      apply: async (tx, commits) => {
        acted.push(...commits.map(({ sequence }) => sequence));
        await countingProjection.apply(tx, commits);
      },
    };
    await projectAll(overtaken(), 100, reaction);
    expect(acted).toEqual(Array.from({ length: 60 }, (_, index) => 41 + index));
  });
});

const range = (from: number, to: number): ProjectedCommit[] =>
  Array.from({ length: to - from + 1 }, (_, index) => countedCommit(from + index));

test('C56 what is delivered twice, alone, as a batch after a crash, or late, is applied once (proteanhq/protean#1042)', async () => {
  const order = [
    ...range(1, 9),
    countedCommit(7),
    ...range(5, 9),
    ...range(10, 12),
    countedCommit(7),
    countedCommit(13),
  ];
  const source: CommitSource = {
    state: async () => ({ firstSequence: 1, lastSequence: 13, incarnation: INCARNATION }),
    // Redelivers from the beginning, whatever the reader asks for.
    async *read(_after, signal) {
      yield* order;
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    },
  };
  await projectAll(source, 13);
  await projectAll(source, 13);
  expect(await counters()).toEqual(expected(13));
});

describe('C55 no commit can appear below one that was already read (commanded/eventstore#3)', () => {
  // Positions are given by the stream's one writer (its leader) at the moment a message is stored, not by transactions that
  // commit in another order: a sequence that is visible has no lower one still to come. What is left to prove here is that
  // gaps (erased or refused messages) do not block, and that positions, not times, decide.
  test('a real gap in the sequences does not block', async () => {
    const source = new MemorySource();
    source.append(countedCommit(1), countedCommit(2), countedCommit(1_002), countedCommit(1_003));
    await projectAll(source, 1_003);
    expect((await counters()).reduce((sum, { commits }) => sum + commits, 0n)).toBe(4n);
  });

  test('commits of the same instant are told apart by their position', async () => {
    const source = new MemorySource();
    const storedAt = Date.UTC(2026, 0, 5);
    source.append(...range(1, 500).map((commit) => ({ ...commit, storedAt })));
    await projectAll(source, 500);
    expect(await counters()).toEqual(expected(500));
  });
});

describe('a checkpoint that contradicts its stream stops the projector with an alarm', () => {
  test('ahead of the stream, and goes on by itself when the stream was restored', async () => {
    await projectAll(countingSource(10), 10);
    const source = new MemorySource();
    source.incarnation = INCARNATION;
    source.append(...range(1, 6));
    const projector = project(source);
    await until(() =>
      expect(projector.faults()[0]).toMatch(/counting@1 is at 10, ahead of RUNS, which ends at 6/),
    );
    expect(await counters()).toEqual(expected(10));
    source.append(...range(7, 12));
    expect(await positionReached(db, countingProjection, 12, 30_000)).toBe(true);
    await projector.stop();
    expect(await counters()).toEqual(expected(12));
  });

  test('a stream created anew is never read on', async () => {
    await projectAll(countingSource(10), 10);
    const anew = new MemorySource();
    anew.append(...range(1, 50));
    const projector = project(anew);
    await until(() => expect(projector.faults()[0]).toMatch(/RUNS was created anew/));
    await projector.stop();
    expect(await counters()).toEqual(expected(10));
  });

  test('what the stream has dropped is read from the archive', async () => {
    await projectAll(countingSource(40), 40, archiveProjection('RUNS'));
    const source = new MemorySource();
    source.incarnation = INCARNATION;
    source.firstSequence = 31;
    source.append(...range(31, 60));
    await projectAll(source, 60);
    expect(await counters()).toEqual(expected(60));
  });

  test('what neither the stream nor the archive holds stops a projection, and only alarms the archive', async () => {
    const source = new MemorySource();
    source.firstSequence = 31;
    source.append(...range(31, 60));
    const projector = project(source);
    await until(() => expect(projector.faults()[0]).toMatch(/begins at 31; 1 to 30 are not in the archive/));
    const archiver = project(source, archiveProjection('RUNS'));
    expect(await positionReached(db, archiveProjection('RUNS'), 60, 30_000)).toBe(true);
    expect(archiver.alarms[0]).toMatch(/dropped 1 to 30/);
    // From here on the archive vouches for the gap: what was there is gone for ever.
    expect(await positionReached(db, countingProjection, 60, 30_000)).toBe(true);
    await Promise.all([projector.stop(), archiver.stop()]);
  });
});

test('a commit that cannot be applied is named, never skipped, and applied once it can be', async () => {
  const source = new MemorySource();
  const org = ORGS[0];
  const commits = range(1, 20);
  commits[10] = {
    ...projectedCommit({ context: 'runs', org, id: 'run_4', events: [{ type: 'RunQueued', data: {} }] }, 11),
  };
  source.append(...commits);
  let broken = true;
  const projection: Projection = {
    ...countingProjection,
    async apply(tx, batch) {
      await countingProjection.apply(tx, batch);
      if (broken && batch.some(({ sequence }) => sequence === 11)) await tx.query('SELECT 1 / 0');
    },
  };
  const projector = project(source, projection);
  await until(() =>
    expect(projector.faults()[0]).toMatch(
      /counting@1 cannot apply runyard.RunQueued.v1 at RUNS 11 \(runyard\.runs\..*\): division by zero/,
    ),
  );
  expect(projector.statuses.at(-1)).toMatchObject({ state: 'faulted', position: 10 });
  broken = false;
  expect(await positionReached(db, projection, 20, 30_000)).toBe(true);
  await projector.stop();
  expect((await counters()).reduce((sum, { commits: count }) => sum + count, 0n)).toBe(20n);
});

test('an idle projector applies a commit by itself, and batches grow under load', async () => {
  const source = new MemorySource();
  const projector = project(source);
  source.append(...range(1, 1));
  await positionReached(db, countingProjection, 1, 30_000);
  for (let sequence = 2; sequence <= 30; sequence++) {
    source.append(countedCommit(sequence));
    await positionReached(db, countingProjection, sequence, 30_000);
  }
  expect(projector.batches).toEqual(Array(30).fill(1));
  source.append(...range(31, 5_000));
  await positionReached(db, countingProjection, 5_000, 30_000);
  await projector.stop();
  expect(Math.max(...projector.batches)).toBe(1_000);
  expect(await counters()).toEqual(expected(5_000));
});

describe('positionReached', () => {
  test('is false when the projection does not come so far in time, and true once another process has moved it', async () => {
    await projectAll(countingSource(5), 5);
    const reader = database.connect('counting');
    expect(await positionReached(reader, countingProjection, '5.3', 1_000)).toBe(true);
    expect(await positionReached(reader, countingProjection, '6.0', 60)).toBe(false);
    const waiting = Promise.all(
      [6, 7, 8].map((sequence) => positionReached(reader, countingProjection, sequence, 30_000)),
    );
    const projector = project(countingSource(8));
    expect(await waiting).toEqual([true, true, true]);
    await projector.stop();
  });
});

describe('C81 the place of the one projector is never left locked (heymrun/heym#436)', () => {
  test('(a) a projector that throws, or stops, leaves no lock behind', async () => {
    const projector = project({
      ...countingSource(5),
      state: () => Promise.reject(new Error('the log is away')),
    });
    await until(() => expect(projector.faults()).toContain('the log is away'));
    await projector.stop();
    expect(await locks()).toEqual([]);
  });

  test('(b, c) pools may recycle as they like: the lock has a connection of its own, and ends with it', async () => {
    const projector = project(countingSource(10));
    await positionReached(db, countingProjection, 10, 30_000);
    const [pid] = await locks();
    const pooled = await db.acrossOrgs('spec', (tx) =>
      tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'),
    );
    expect(pooled.map((row) => row.pid)).not.toContain(pid);
    const owner = await db.dedicated('end the lock');
    await owner.query('SELECT pg_terminate_backend($1)', [pid]);
    await owner.close();
    await until(async () => {
      const [next] = await locks();
      expect(next).toBeDefined();
      expect(next).not.toBe(pid);
    });
    await projector.stop();
    expect(await locks()).toEqual([]);
  });
});

test('two services keep separate checkpoints and locks for projections of the same name', async () => {
  const other = await freshDatabase([
    { service: 'counting', migrations: countingMigrations },
    { service: 'other', migrations: [] },
  ]);
  try {
    const [one, two] = [other.connect('counting'), other.connect('other')];
    const nothing: Projection = { ...countingProjection, apply: async () => undefined };
    const running = [
      project(countingSource(9), countingProjection, one),
      project(countingSource(7), nothing, two),
    ];
    expect(await positionReached(one, countingProjection, 9, 30_000)).toBe(true);
    expect(await positionReached(two, countingProjection, 7, 30_000)).toBe(true);
    expect(await positionReached(two, countingProjection, 8, 50)).toBe(false);
    await Promise.all(running.map((projector) => projector.stop()));
  } finally {
    await other.drop();
  }
});
