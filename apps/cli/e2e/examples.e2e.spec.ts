// The examples for engineers of other services, as they would run them: processes of their own, beside the whole product.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually } from '@runyard/testing';
import Ajv from 'ajv';
import type { ValidateFunction } from 'ajv';
import { World } from './world';

jest.setTimeout(240_000);

const examples = resolve(__dirname, '../../../examples');
const answer = { expect: [{ role: 'user', any: true }], text: 'forty-two', usage: { input: 10, output: 5 } };

let world: World;
const children = new Set<ChildProcess>();
beforeAll(async () => {
  world = await World.open({ recordings: { clerk: [answer] } });
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await world?.close();
});

interface Example {
  child: ChildProcess;
  /** What it has written so far. */
  said: () => string;
  ended: Promise<number | null>;
}

function example(name: string, ...args: string[]): Example {
  const child = spawn(process.execPath, [join(examples, name), ...args], {
    env: { ...process.env, RUNYARD_CONNECTION: world.connectionFile },
  });
  children.add(child);
  let text = '';
  child.stdout.on('data', (chunk) => (text += String(chunk)));
  child.stderr.on('data', (chunk) => (text += String(chunk)));
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  void ended.then(() => children.delete(child));
  return { child, said: () => text, ended };
}

test('a publisher starts a run, once for a key, and sees its end', async () => {
  const first = example('publish-run-request.mjs', 'clerk', 'what is it?', 'key-1');
  expect(await first.ended).toBe(0);
  expect(first.said()).toContain('created: true');
  expect(first.said()).toContain('forty-two');
  const again = example('publish-run-request.mjs', 'clerk', 'what is it?', 'key-1');
  expect(await again.ended).toBe(0);
  expect(again.said()).toContain('created: false');
  const other = example('publish-run-request.mjs', 'clerk', 'something else', 'key-1');
  expect(await other.ended).toBe(1);
  expect(other.said()).toContain('idempotency_key_reused');
});

interface Entry {
  sequence: number;
  run_id: string;
  outcome: string;
  tokens: number | null;
}
const ledgerFile = () => join(world.folder, 'ended-runs.ndjson');
const entries = (): Entry[] =>
  existsSync(ledgerFile())
    ? readFileSync(ledgerFile(), 'utf8')
        .split('\n')
        .slice(1, -1)
        .map((line) => JSON.parse(line) as Entry)
    : [];
const knows = (runId: string) =>
  eventually(() => entries().some(({ run_id }) => run_id === runId), { withinMs: 60_000 });

test('a consumer that is killed again and again has every ended run once', async () => {
  const runs: string[] = [];
  for (let round = 0; round < 3; round++) {
    const consumer = example('consume-events.mjs', ledgerFile());
    await eventually(() => consumer.said().includes('going on after'), { withinMs: 60_000 });
    const run = await world.ran('clerk', `question ${round}`);
    await knows(run);
    consumer.child.kill('SIGKILL');
    await consumer.ended;
    // What ends while nobody listens is there on the next start; half a line is what a kill may leave behind.
    runs.push(run, await world.ran('clerk', `unheard ${round}`));
    appendFileSync(ledgerFile(), '{"sequence":9');
  }
  const last = example('consume-events.mjs', ledgerFile());
  await knows(runs.at(-1) ?? '');
  last.child.kill('SIGTERM');
  expect(await last.ended).toBe(0);

  const kept = entries();
  const ids = kept.map(({ run_id }) => run_id);
  expect(ids.slice(-runs.length)).toEqual(runs);
  expect(new Set(ids).size).toBe(ids.length);
  const sequences = kept.map(({ sequence }) => sequence);
  expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
  expect(kept.every(({ outcome, tokens }) => outcome === 'Succeeded' && tokens === 15)).toBe(true);
});

test('a consumer whose stream was replaced stops instead of skipping', async () => {
  const text = readFileSync(ledgerFile(), 'utf8').replace(
    /"created":"[^"]+"/,
    '"created":"2020-01-01T00:00:00Z"',
  );
  const other = join(world.folder, 'other.ndjson');
  appendFileSync(other, text);
  const consumer = example('consume-events.mjs', other);
  expect(await consumer.ended).toBe(1);
  expect(consumer.said()).toContain('restored or made anew');
});

test('what the product has put on the bus is what its description says', async () => {
  const document = JSON.parse(readFileSync(resolve(examples, '../docs/asyncapi.json'), 'utf8')) as {
    components: object;
  };
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'bus', components: document.components });
  const validate = new Map<string, ValidateFunction>();
  const read = async () =>
    (
      await world.owner.query<{ subject: string; body: string }>(
        'SELECT subject, body::text AS body FROM archive.event_log',
      )
    ).rows;
  // The archive follows the streams; the last run of the consumer's test must be in it.
  const rows = await eventually(
    async () => {
      const found = await read();
      return found.filter(({ body }) => body.includes('RunSucceeded')).length >= 7 && found;
    },
    { withinMs: 60_000 },
  );
  const faults = rows.flatMap(({ subject, body }) => {
    const context = subject.split('.')[1] ?? '';
    if (!validate.has(context))
      validate.set(context, ajv.compile({ $ref: `bus#/components/messages/${context}/payload` }));
    const check = validate.get(context);
    return check?.(JSON.parse(body)) ? [] : [`${subject}: ${ajv.errorsText(check?.errors).slice(0, 300)}`];
  });
  expect(faults).toEqual([]);
  expect([...validate.keys()]).toEqual(
    expect.arrayContaining(['runs', 'agents', 'catalogue', 'people', 'budgets']),
  );
});
