import { Problem } from '@runyard/contracts';
import { eventually } from '@runyard/testing';
import { Client } from 'pg';
import type { Actor } from '../../e2e/fake-services';
import { startHarness } from '../../e2e/harness';
import type { Harness } from '../../e2e/harness';
import { KeptAnswers } from './kept-answers';

jest.setTimeout(120_000);

const ORG = '11111111-1111-4111-8111-111111111111';
const OTHER_ORG = '99999999-9999-4999-8999-999999999999';

let harness: Harness;
let admin: Actor;
let made: number;
beforeAll(async () => {
  harness = await startHarness();
  admin = harness.services.actor(ORG, ['admin']);
});
beforeEach(() => {
  made = 0;
  harness.services.on('users.add', (_caller, input) => ({
    user_id: '33333333-3333-4333-8333-333333333333',
    email: input.email,
    serial: ++made,
    text: 'NUL \0 and \ud800',
  }));
});
afterAll(() => harness?.stop());

const post = async (path: string, body: unknown, key: string | undefined, actor = admin) => {
  const answer = await fetch(harness.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': actor.key,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return {
    status: answer.status,
    headers: answer.headers,
    json: (await answer.json()) as Record<string, unknown>,
  };
};
const user = { email: 'a@example.org', name: 'A' };

/** Looks past row-level security, and can make rows old. */
async function asOwner(sql: string): Promise<{ answer: unknown }[]> {
  const client = new Client({ connectionString: harness.db.ownerUrl });
  await client.connect();
  try {
    return (await client.query<{ answer: unknown }>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('Idempotency-Key on POST', () => {
  test('a repetition gets the first answer: status, headers and body', async () => {
    const first = await post('/v1/users', user, 'one');
    const again = await post('/v1/users', user, 'one');
    expect([again.status, again.json]).toEqual([first.status, first.json]);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect(made).toBe(1);
  });

  test('the same said in another order is the same, quoted keys too', async () => {
    await post('/v1/users', '{"email":"a@example.org","name":"A"}', 'order');
    expect(
      (await post('/v1/users', '{ "name": "A", "email": "a@example.org" }', '"order"')).headers.get(
        'idempotency-replayed',
      ),
    ).toBe('true');
  });

  test('another body with the key is 422', async () => {
    await post('/v1/users', user, 'two');
    expect(await post('/v1/users', { ...user, name: 'B' }, 'two')).toMatchObject({
      status: 422,
      json: { code: 'idempotency_key_mismatch' },
    });
    expect(made).toBe(1);
  });

  test('a request in progress is 409 with Retry-After, and runs once', async () => {
    let finish: () => void = () => undefined;
    const working = new Promise<void>((resolve) => (finish = resolve));
    harness.services.on('users.add', async () => {
      made++;
      await working;
      return { user_id: null };
    });
    const first = post('/v1/users', user, 'three');
    await eventually(() => made === 1);
    const second = await post('/v1/users', user, 'three');
    expect([second.status, second.json.code, second.headers.get('retry-after')]).toEqual([
      409,
      'request_in_progress',
      '1',
    ]);
    finish();
    expect((await first).status).toBe(201);
    expect((await post('/v1/users', user, 'three')).status).toBe(201);
    expect(made).toBe(1);
  });

  test('twenty at once are one', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('/v1/users', user, 'crowd')));
    expect(made).toBe(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(
      new Set(answers.some(({ status }) => status === 409) ? [201, 409] : [201]),
    );
  });

  test('keys of other callers, routes and orgs are other keys', async () => {
    const colleague = harness.services.actor(ORG, ['admin']);
    const stranger = harness.services.actor(OTHER_ORG, ['admin']);
    for (const actor of [admin, colleague, stranger]) await post('/v1/users', user, 'mine', actor);
    expect(made).toBe(3);
    harness.services.on('tools.register', () => ({ name: 'x' }));
    const tool = {
      name: 'x',
      description: 'X',
      input_schema: { type: 'object' },
      effect: 'read',
      source: { kind: 'builtin', name: 'x' },
    };
    expect((await post('/v1/tools', tool, 'mine')).headers.get('idempotency-replayed')).toBeNull();
  });

  test('two targets of one route are two requests', async () => {
    harness.services.on('users.deactivate', () => ({}));
    await post('/v1/users/33333333-3333-4333-8333-333333333333/deactivate', {}, 'target');
    expect(
      (await post('/v1/users/44444444-4444-4444-8444-444444444444/deactivate', {}, 'target')).status,
    ).toBe(422);
  });

  test('what the platform refused is replayed, what it could not decide is not', async () => {
    harness.services.on('users.add', () => {
      throw made++ === 0
        ? new Problem('unavailable', 'not now')
        : new Problem('already_exists', 'The user exists');
    });
    expect((await post('/v1/users', user, 'refused')).status).toBe(503);
    expect((await post('/v1/users', user, 'refused')).status).toBe(409);
    expect(await post('/v1/users', user, 'refused')).toMatchObject({
      status: 409,
      json: { code: 'already_exists', replayed: true },
    });
    expect(made).toBe(2);
  });

  test('an invalid request takes no key', async () => {
    expect((await post('/v1/users', { name: 'no mail' }, 'valid')).status).toBe(400);
    expect((await post('/v1/users', user, 'valid')).status).toBe(201);
    expect((await post('/v1/users', user, '')).status).toBe(400);
    expect((await post('/v1/users', user, 'x'.repeat(256))).status).toBe(400);
  });

  test('a new API key is kept nowhere: its replay says that it was shown', async () => {
    harness.services.on('keys.create', () => ({ key_id: 'key_x', label: 'mine', key: 'ry_live_secret' }));
    const body = { label: 'mine', roles: ['member'] };
    expect((await post('/v1/keys', body, 'key')).json.key).toBe('ry_live_secret');
    expect(await post('/v1/keys', body, 'key')).toMatchObject({
      status: 201,
      json: { key_id: 'key_x', key: null },
    });
    expect(JSON.stringify(await asOwner('SELECT answer FROM gateway.idempotency_keys'))).not.toContain(
      'ry_live_secret',
    );
  });

  test('after a day the key is free, and what is old is cleared away by later requests', async () => {
    await post('/v1/users', user, 'old');
    await asOwner("UPDATE gateway.idempotency_keys SET taken_at = now() - interval '25 hours'");
    await post('/v1/users', { ...user, name: 'B' }, 'old');
    expect(made).toBe(2);
    await post('/v1/users', user, 'later');
    expect(
      await asOwner(
        `SELECT answer FROM gateway.idempotency_keys WHERE org_id = '${ORG}' AND taken_at < now() - interval '24 hours'`,
      ),
    ).toEqual([]);
  });

  test('a request whose gateway died frees its key after a minute', async () => {
    const store = new KeptAnswers(harness.db.connect('gateway'));
    const scope = { org: ORG, caller: 'user:x', route: 'r', key: 'dead' };
    expect(await store.take(scope, 'f')).toEqual({ state: 'taken' });
    expect(await store.take(scope, 'f')).toEqual({ state: 'in_progress' });
    await asOwner(
      "UPDATE gateway.idempotency_keys SET taken_at = now() - interval '61 seconds' WHERE key = 'dead'",
    );
    expect(await store.take(scope, 'g')).toEqual({ state: 'taken' });
    // It was alive after all, and answers now: that is no answer to the request that has the key.
    await store.keep(scope, 'f', { status: 201, headers: {}, body: 'late', problem: false });
    await store.release(scope, 'f');
    expect(await store.take(scope, 'g')).toEqual({ state: 'in_progress' });
    await store.keep(scope, 'g', { status: 201, headers: {}, body: 'its own', problem: false });
    expect(await store.take(scope, 'g')).toMatchObject({ state: 'answered', answer: { body: 'its own' } });
  });

  test("rows of one org are invisible to another's transactions", async () => {
    const db = harness.db.connect('gateway');
    const seen = await db.inOrg(OTHER_ORG, (tx) =>
      tx.query<{ org_id: string }>('SELECT DISTINCT org_id FROM idempotency_keys'),
    );
    expect(seen.map((row) => row.org_id)).toEqual([OTHER_ORG]);
  });
});
