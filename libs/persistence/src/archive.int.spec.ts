import { randomUUID } from 'node:crypto';
import { freshDatabase, MemorySource } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import { archiveProjection, archiveSource, blobs, positionReached, runProjection } from '.';
import type { CommitSource, Database, ProjectedCommit, ProjectorStatus } from '.';
import { countedCommit, countingMigrations, ORGS } from './spec/counting-projection';

jest.setTimeout(120_000);
const RUNS = archiveProjection('RUNS');
let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await freshDatabase([{ service: 'counting', migrations: countingMigrations }]);
  db = database.connect('counting');
});
afterEach(() => database.drop());

async function archive(source: MemorySource): Promise<ProjectorStatus | undefined> {
  // Its own: a process remembers how far a projection has come, and specs here set checkpoints back.
  const own = database.connect('counting');
  const stop = new AbortController();
  let fault: ProjectorStatus | undefined;
  const failed = new Promise<boolean>((resolve) => {
    const onStatus = (status: ProjectorStatus) => status.fault && ((fault = status), resolve(false));
    void runProjection({ db: own, source, projection: RUNS, signal: stop.signal, onStatus }).then(() =>
      resolve(true),
    );
  });
  await Promise.race([positionReached(own, RUNS, source.lastSequence, 60_000), failed]);
  stop.abort();
  await failed;
  return fault;
}

async function readAll(
  source: CommitSource,
  after = 0,
  until = Number.MAX_SAFE_INTEGER,
): Promise<ProjectedCommit[]> {
  const commits: ProjectedCommit[] = [];
  for await (const commit of source.read(after, new AbortController().signal, until)) commits.push(commit);
  return commits;
}

const sourceOf = (...commits: ProjectedCommit[]): MemorySource => {
  const source = new MemorySource();
  source.append(...commits);
  return source;
};
const withBody = (sequence: number, body: Uint8Array): ProjectedCommit => ({
  ...countedCommit(sequence),
  body,
});

test('every commit comes back byte for byte, whatever its body is', async () => {
  const bodies = [
    Buffer.from('[{"b":1.0,"a":1e400,"b":2}]'),
    Buffer.from('  [ ]\n'),
    Buffer.from('[{"text":"😀 \\u0000 \\ud83d \\"quoted\\" \\\\ {},NULL"}]'),
    Buffer.from('[1]\0[2]'),
    Buffer.from([0xff, 0xfe, 0x00, 0x80]),
    Buffer.from(''),
    Buffer.from('x'.repeat(300_000)),
  ];
  const source = sourceOf(...bodies.map((body, index) => withBody(index + 1, body)));
  expect(await archive(source)).toBeUndefined();
  const back = await readAll(archiveSource(db, 'RUNS'));
  expect(back.map(({ body }) => Buffer.from(body).toString('hex'))).toEqual(
    bodies.map((body) => body.toString('hex')),
  );
  for (const [index, commit] of back.entries())
    expect({ ...commit, body: 0 }).toEqual({ ...countedCommit(index + 1), body: 0 });
});

test('the archive is read from any place, up to any place, by subject, and over several pages', async () => {
  const source = sourceOf(...Array.from({ length: 1_300 }, (_, index) => countedCommit(index + 1)));
  await archive(source);
  const whole = archiveSource(db, 'RUNS');
  expect(await whole.state()).toEqual({
    firstSequence: 1,
    lastSequence: 1_300,
    incarnation: source.incarnation,
  });
  expect((await readAll(whole)).map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 1_300 }, (_, index) => index + 1),
  );
  expect((await readAll(whole, 10, 13)).map(({ sequence }) => sequence)).toEqual([11, 12, 13]);
  const subject = countedCommit(7).subject;
  const ofOne = await readAll(archiveSource(db, 'RUNS', subject));
  expect(ofOne.length).toBeGreaterThan(50);
  expect(ofOne.every((commit) => commit.subject === subject)).toBe(true);
  expect(await readAll(archiveSource(db, 'RUNS', 'runyard.agents.>'))).toEqual([]);
});

test('a reader without an end gets what is archived later', async () => {
  const source = sourceOf(countedCommit(1));
  await archive(source);
  const stop = new AbortController();
  const seen: number[] = [];
  for await (const { sequence } of archiveSource(db, 'RUNS').read(0, stop.signal)) {
    seen.push(sequence);
    if (sequence === 1) void (source.append(countedCommit(2)), archive(source));
    if (sequence === 2) stop.abort();
  }
  expect(seen).toEqual([1, 2]);
});

describe('what is archived already', () => {
  test('is kept where it is the same commit', async () => {
    const source = sourceOf(countedCommit(1), countedCommit(2));
    await archive(source);
    await db.acrossOrgs('spec', (tx) => tx.query(`UPDATE archive.projection_checkpoints SET position = 0`));
    source.append(countedCommit(3));
    expect(await archive(source)).toBeUndefined();
    expect(await readAll(archiveSource(db, 'RUNS'))).toHaveLength(3);
  });

  test('stops the archive with an alarm where it is another one', async () => {
    const source = sourceOf(countedCommit(1), countedCommit(2));
    await archive(source);
    await db.acrossOrgs('spec', (tx) => tx.query(`UPDATE archive.projection_checkpoints SET position = 0`));
    const other = sourceOf(countedCommit(1), { ...countedCommit(2), commitId: 'another' });
    other.incarnation = source.incarnation;
    const fault = await archive(other);
    expect(fault).toMatchObject({ state: 'faulted', position: 1 });
    expect(fault?.fault).toMatch(
      /cannot apply runyard.Counted.v1 at RUNS 2 .*holds commit commit-2 at RUNS 2, the stream another one/,
    );
  });
});

test('tenants read their own commits only, and write none', async () => {
  const foreign = { ...countedCommit(3), subject: 'foreign.subject' };
  await archive(sourceOf(countedCommit(1), countedCommit(2), foreign));
  const subjects = (org: string) =>
    db.inOrg(org, (tx) => tx.query<{ org_id: string }>('SELECT org_id FROM archive.event_log'));
  expect(await subjects(ORGS[0])).toEqual([{ org_id: ORGS[0] }]);
  expect(await subjects(randomUUID())).toEqual([]);
  const insert = db.inOrg(ORGS[0], (tx) =>
    tx.query(`INSERT INTO archive.event_log SELECT 'RUNS', 9, 's', $1, 'c', now(), '{}', '[]'`, [ORGS[0]]),
  );
  await expect(insert).rejects.toThrow(/permission denied/);
});

describe('blobs', () => {
  test('a text is stored once per org and found by its digest, by that org only', async () => {
    const store = blobs(db);
    const text = 'a long prompt '.repeat(60_000);
    const digest = await store.put(ORGS[0], text);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await store.put(ORGS[0], text)).toBe(digest);
    expect(await blobs(db).put(ORGS[0], text)).toBe(digest);
    expect(await store.get(ORGS[0], digest)).toBe(text);
    expect(await store.get(ORGS[1], digest)).toBeUndefined();
  });

  test('what Postgres refuses comes back as it was', async () => {
    const store = blobs(db);
    for (const text of ['', 'x\0y', '\ud83d', '\uFFFD\uFDD00000'])
      expect(await store.get(ORGS[0], await store.put(ORGS[0], text))).toBe(text);
  });

  test('what nobody names any more is collected after its time, what is named or was touched is not', async () => {
    const store = blobs(db);
    const [named, unnamed, touched] = [
      await store.put(ORGS[0], 'named'),
      await store.put(ORGS[0], 'gone'),
      await store.put(ORGS[0], 'kept'),
    ];
    expect(await store.collect(async () => [])).toBe(0);
    await db.acrossOrgs('spec', (tx) =>
      tx.query(`UPDATE archive.blobs SET touched_at = now() - interval '25 hours'`),
    );
    await blobs(db).put(ORGS[0], 'kept');
    expect(await store.collect(async () => [named])).toBe(1);
    const left = await Promise.all([named, unnamed, touched].map((digest) => store.get(ORGS[0], digest)));
    expect(left).toEqual(['named', undefined, 'kept']);
  });
});
