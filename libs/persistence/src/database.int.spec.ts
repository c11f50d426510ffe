import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { faultyProxy, freshDatabase } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import {
  cleanJson,
  connectDatabase,
  enableTenantPolicies,
  restoreJson,
  SecondConnection,
  toSafeInteger,
  TransactionMisused,
} from '.';
import type { Database, Migration, Tx } from '.';

const migrations: Migration[] = [
  {
    name: 'CreateNotes',
    timestamp: 1_764_500_000_000,
    up: `CREATE TABLE notes (id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, org_id uuid NOT NULL, text text NOT NULL);
         CREATE TABLE amounts (org_id uuid NOT NULL, tokens int8 NOT NULL, many int8[], day date);
         CREATE TABLE payloads (org_id uuid NOT NULL, id int PRIMARY KEY, body jsonb NOT NULL);
         ${enableTenantPolicies('note-keeper', 'notes')}
         ${enableTenantPolicies('note-keeper', 'amounts')}
         ${enableTenantPolicies('note-keeper', 'payloads')}`,
  },
];
const A = randomUUID();
const B = randomUUID();

jest.setTimeout(120_000);
let database: TestDatabase;
/** One connection only: whatever a transaction leaves on it, the next one meets. */
let db: Database;

beforeAll(async () => {
  database = await freshDatabase([{ service: 'note-keeper', migrations }]);
  db = database.connect('note-keeper', { poolSize: 1, acrossPoolSize: 1 });
  for (const org of [A, B]) await db.inOrg(org, (tx) => note(tx, org));
});
afterAll(() => database.drop());

const note = (tx: Tx, org: string, text = 'note') =>
  tx.query('INSERT INTO notes (org_id, text) VALUES ($1, $2)', [org, text]);
const notes = (tx: Tx) => tx.query<{ org_id: string }>('SELECT org_id FROM notes');

describe('C61 a tenant set on a connection is gone with its transaction (typeorm/typeorm#5857)', () => {
  test('an org sees its own rows only, and cannot write another one’s', async () => {
    expect(await db.inOrg(A, notes)).toEqual([{ org_id: A }]);
    await expect(db.inOrg(A, (tx) => note(tx, B))).rejects.toThrow(/row-level security/);
    expect(await db.inOrg(A, (tx) => tx.query('UPDATE notes SET text = text RETURNING org_id'))).toEqual([
      { org_id: A },
    ]);
    await expect(db.inOrg(A, (tx) => tx.query('UPDATE notes SET org_id = $1', [B]))).rejects.toThrow(
      /row-level security/,
    );
    const [row] = await db.acrossOrgs('count', (tx) =>
      tx.query<{ count: bigint }>('SELECT count(*) FROM notes'),
    );
    expect(toSafeInteger(row!.count)).toBe(2);
  });

  test('without an org there are no rows, and inserts fail, before and after it was once set on the connection', async () => {
    const unset = database.connect('note-keeper', {
      acrossUrl: database.urlFor('note-keeper'),
      acrossPoolSize: 1,
    });
    const asTenant = <T>(work: (tx: Tx) => Promise<T>) =>
      unset.acrossOrgs('the first role without an org', work);
    for (const round of ['never set', 'set before']) {
      expect([round, await asTenant(notes)]).toEqual([round, []]);
      await expect(asTenant((tx) => note(tx, A))).rejects.toThrow(/row-level security/);
      await asTenant(async (tx) => {
        await tx.query(`SELECT set_config('runyard.org', $1, true)`, [A]);
        expect(await notes(tx)).toEqual([{ org_id: A }]);
      });
    }
  });

  test('1,000 requests of two orgs on one connection, with errors and aborts, never see each other', async () => {
    const requests = Array.from({ length: 1_000 }, async (_, index) => {
      const org = index % 2 ? A : B;
      const fate = index % 5;
      await db
        .inOrg(org, async (tx) => {
          const [row] = await tx.query<{ org: string }>(`SELECT current_setting('runyard.org', true) AS org`);
          expect(row?.org).toBe(org);
          for (const seen of await notes(tx)) expect(seen.org_id).toBe(org);
          if (fate === 0) throw new Error('thrown');
          if (fate === 1) await tx.query('SELECT broken');
          if (fate === 2) await tx.query('SET LOCAL statement_timeout = 1; SELECT pg_sleep(0.05)');
        })
        .catch(() => undefined);
    });
    await Promise.all(requests);
    expect(await db.inOrg(A, notes)).toEqual([{ org_id: A }]);
  });

  test.each(['', 'x', `${A}'; --`, '*'])('%p is no org', async (org) => {
    await expect(db.inOrg(org, async () => 1)).rejects.toThrow(TypeError);
  });

  test('a superuser is refused, whom no policy binds', async () => {
    const careless = connectDatabase({
      url: database.ownerUrl,
      acrossUrl: database.ownerUrl,
      applicationName: 'careless',
    });
    await expect(careless.inOrg(A, notes)).rejects.toThrow(/bypasses row-level security/);
    await expect(careless.acrossOrgs('spec', notes)).rejects.toThrow(/bypasses row-level security/);
    await careless.close();
  });
});

describe('C71 nobody waits for a second connection while holding one (vendurehq/vendure#1639)', () => {
  test('a second connection inside a transaction is refused, however deep the call', async () => {
    const inner = async () => {
      await nextTurn();
      return db.inOrg(B, notes);
    };
    await expect(db.inOrg(A, inner)).rejects.toThrow(SecondConnection);
    await expect(db.acrossOrgs('outer', inner)).rejects.toThrow(
      /inOrg was called inside acrossOrgs \(outer\)/,
    );
  });

  test('what a transaction started and outlives it may ask again', async () => {
    let later: Promise<unknown> = Promise.resolve();
    await db.inOrg(A, async () => {
      later = new Promise((resolve) => setTimeout(resolve, 20)).then(() => db.inOrg(A, notes));
    });
    expect(await later).toHaveLength(1);
  });

  test('50 calls at once on two connections all finish', async () => {
    const two = database.connect('note-keeper', { poolSize: 2 });
    const results = await Promise.all(Array.from({ length: 50 }, () => two.inOrg(A, notes)));
    expect(results.every((rows) => rows.length === 1)).toBe(true);
  });

  test('waiting for the pool is bounded and ends as `unavailable`', async () => {
    const tight = database.connect('note-keeper', { poolSize: 1, waitMs: 3_000 });
    let release: () => void = () => undefined;
    const holding = tight.inOrg(A, () => new Promise<void>((resolve) => (release = resolve)));
    await expect(tight.inOrg(A, notes)).rejects.toMatchObject({
      code: 'unavailable',
      facts: { retryAfterSeconds: 1 },
    });
    release();
    await holding;
    expect(await tight.inOrg(A, notes)).toHaveLength(1);
  });
});

describe('a transaction that is misused', () => {
  test('an error that was swallowed inside does not pass for a commit', async () => {
    const swallowed = db.inOrg(A, async (tx) => {
      await note(tx, A, 'lost');
      await tx.query('SELECT broken').catch(() => undefined);
    });
    await expect(swallowed).rejects.toThrow(TransactionMisused);
    expect(await db.inOrg(A, notes)).toHaveLength(1);
  });

  test('queries that nobody awaits, and queries after the end, are refused', async () => {
    await expect(db.inOrg(A, async (tx) => void note(tx, A).catch(() => undefined))).rejects.toThrow(
      TransactionMisused,
    );
    let escaped: Tx | undefined;
    await db.inOrg(A, async (tx) => (escaped = tx));
    await expect(escaped!.query('SELECT 1')).rejects.toThrow(TransactionMisused);
    expect(await db.inOrg(A, notes)).toHaveLength(1);
  });

  test('work that fails ends for all of its parts: none that comes later writes into the next transaction', async () => {
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    let straggler: Promise<unknown> = Promise.resolve();
    const failed = db.inOrg(A, (tx) => {
      straggler = gate.then(() => note(tx, A, 'late'));
      return Promise.reject(new Error('changed its mind'));
    });
    await expect(failed).rejects.toThrow('changed its mind');
    await db.inOrg(B, async () => {
      go();
      await expect(straggler).rejects.toThrow(TransactionMisused);
    });
    expect(await db.inOrg(A, notes)).toHaveLength(1);
  });

  test('a statement that has lost its BEGIN writes nothing by itself', async () => {
    const bare = db.acrossOrgs('spec', async (tx) => {
      await tx.query('ROLLBACK');
      await note(tx, A, 'by itself');
    });
    await expect(bare).rejects.toThrow(/read-only transaction/);
    expect(await db.inOrg(A, notes)).toHaveLength(1);
  });
});

test('C68 int8 comes back as bigint, exactly, also in arrays and sums (typeorm/typeorm#8583)', async () => {
  const values = [9n, 10n, 999n, 1_000n, 900_000n, 9_007_199_254_740_993n];
  const read = await db.inOrg(A, async (tx) => {
    for (const value of values)
      await tx.query('INSERT INTO amounts VALUES ($1, $2, $3, $4)', [A, value, [value, null], '2026-01-05']);
    return tx.query<{ tokens: bigint; many: unknown; day: string }>(
      'SELECT tokens, many, day FROM amounts ORDER BY tokens',
    );
  });
  expect(read.map(({ tokens }) => tokens)).toEqual(values);
  expect(read.map(({ many }) => many)).toEqual(values.map((value) => [value, null]));
  expect(read[0]!.day).toBe('2026-01-05');
  expect(toSafeInteger(read[4]!.tokens) + 50).toBe(900_050);
  expect(read[2]!.tokens > 1_000n).toBe(false);
  expect(() => toSafeInteger(read[5]!.tokens)).toThrow(RangeError);
  // A position travels as text: stored, shown as an id, sent back, compared.
  expect(BigInt(String(read[5]!.tokens))).toBe(9_007_199_254_740_993n);
});

describe('C67 text that Postgres refuses is stored and comes back (kodustech/kodus-ai#1683)', () => {
  const store = (tx: Tx, id: number, value: unknown) =>
    tx.query('INSERT INTO payloads VALUES ($1, $2, $3)', [A, id, JSON.stringify(cleanJson(value as string))]);

  test('the five values, in a jsonb column', async () => {
    const values = ['x\0y', '\ud83d', '\udfe1\ud83d', { 'k\0ey': 'v' }, 'C:\\u0000dir'];
    await db.inOrg(A, async (tx) => {
      for (const [id, value] of values.entries()) await store(tx, id, value);
      const rows = await tx.query<{ body: string }>('SELECT body FROM payloads ORDER BY id');
      expect(rows.map(({ body }) => restoreJson(body))).toEqual(values);
      expect(rows[4]!.body).toBe('C:\\u0000dir');
    });
  });

  test('10,000 random texts', async () => {
    const unit = fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0, 0xd83d, 0xdfe1, 0xfdd0));
    const texts = fc
      .sample(fc.array(unit, { maxLength: 20 }), 10_000)
      .map((codes) => String.fromCharCode(...codes));
    const back = await db.inOrg(A, async (tx) => {
      const stored = texts.map((text) => JSON.stringify(cleanJson(text)));
      const rows = await tx.query<{ body: string }>(
        'SELECT body FROM unnest($1::jsonb[]) WITH ORDINALITY AS t (body, n) ORDER BY n',
        [stored],
      );
      return rows.map(({ body }) => restoreJson(body));
    });
    expect(back).toEqual(texts);
  });
});

test('closing twice is closing once', async () => {
  const other = database.connect('note-keeper');
  await other.inOrg(A, (tx) => tx.query('SELECT 1'));
  await Promise.all([other.close(), other.close()]);
  await other.close();
});

describe('closing', () => {
  /** A database that is reached through a proxy, with one connection open. */
  async function distant() {
    const url = new URL(database.urlFor('note-keeper'));
    const proxy = await faultyProxy(Number(url.port));
    url.host = new URL(proxy.url).host;
    const lost: Error[] = [];
    const other = database.connect('note-keeper', {
      url: url.toString(),
      onLost: (error) => lost.push(error),
    });
    await other.inOrg(A, (tx) => tx.query('SELECT 1'));
    return { proxy, other, lost };
  }

  test('ends when the server has hung up, so that one which stops next cuts nothing off', async () => {
    const { proxy, other } = await distant();
    proxy.stall();
    const ended = other.close().then(() => 'closed');
    expect(await Promise.race([ended, pause(300, 'waits')])).toBe('waits');
    proxy.heal();
    expect(await ended).toBe('closed');
    await proxy[Symbol.asyncDispose]();
  });

  test('loses nothing where the connection breaks meanwhile, and does not wait for a silent server', async () => {
    const { proxy, other, lost } = await distant();
    proxy.stall();
    const ended = other.close();
    proxy.cut();
    await ended;
    expect(lost).toEqual([]);
    await proxy[Symbol.asyncDispose]();
    const silent = await distant();
    silent.proxy.stall();
    await silent.other.close();
    await silent.proxy[Symbol.asyncDispose]();
  });
});
