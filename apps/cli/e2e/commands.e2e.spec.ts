import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deadSubject, requestSubject } from '@runyard/contracts';
import { connectEventLog } from '@runyard/event-log';
import { eventually } from '@runyard/testing';
import { QUICK, SLOW } from './turns';
import { World } from './world';

jest.setTimeout(180_000);

interface Row {
  task_id: string;
  position: string;
}

let world: World;
beforeAll(async () => {
  world = await World.open({
    recordings: {
      quick: QUICK,
      slow: SLOW,
    },
  });
});
afterAll(() => world?.close());

describe('as of an earlier moment', () => {
  test('a run is what it was at a position and at a time; before its birth and in the future it says so', async () => {
    const runId = await world.ran('quick', 'Look back');
    const events = (await world.runyard('runs', 'export', runId)).out.map(
      (line) => JSON.parse(line) as { position: string; time: string },
    );
    const [birth, end] = [events[0], events.at(-1)];
    const asOf = async (place = '') => {
      const { code, out, said } = await world.runyard('runs', 'show', runId, '--as-of', place, '--json');
      return code === 0 ? (JSON.parse(out.join('')) as { run: Record<string, unknown> }).run : said;
    };
    expect(await asOf(birth?.position)).toMatchObject({
      run_id: runId,
      // Its claim lies in the same commit.
      state: 'running',
      status: 'running',
      ended_at: null,
      output: null,
      total_tokens: 0,
    });
    const now = await world.api.call<Record<string, unknown>>('GET', `/v1/runs/${runId}`);
    expect(await asOf(end?.position)).toEqual({ ...now, heartbeat_at: expect.anything() });
    expect(await asOf(end?.time)).toMatchObject({ state: 'succeeded', output: 'done at once' });
    const before = `${Number(birth?.position.split('.')[0]) - 1}.0`;
    expect(await asOf(before)).toContain(`position ${birth?.position}: ask for that or later`);
    expect(await asOf('2020-01-01T00:00:00Z')).toMatch(/^runyard: not_found: run_\w+ was not there as of/);
    expect(await asOf('2120-01-01T00:00:00Z')).toContain('lies in the future; leave it out');
    expect(await asOf('999999999.0')).toContain('is beyond the end of RUNS');
    expect(await asOf('yesterday')).toContain('must be a position, or an RFC 3339 time');
    // Nothing of it stays: the live row is what it was.
    expect(await world.api.call('GET', `/v1/runs/${runId}`)).toEqual(now);
  });

  test('an agent is what its author had made of it then', async () => {
    const agent = await world.api.call<{ position: string }>('POST', '/v1/agents', {
      agent_id: 'changing',
      name: 'First',
      prompt: 'Be first.',
      model_id: 'quick',
    });
    await world.api.call('PATCH', '/v1/agents/changing', { name: 'Second', prompt: 'Be second.' });
    const then = (place: string) => world.api.call('GET', `/v1/agents/changing?as_of=${place}`);
    expect(await then(agent.position)).toMatchObject({
      name: 'First',
      prompt: 'Be first.',
      agent_version: 1,
      position: agent.position,
    });
    expect(await then(encodeURIComponent(new Date().toISOString()))).toMatchObject({
      name: 'Second',
      agent_version: 2,
    });
    await expect(then('2020-01-01T00:00:00Z')).rejects.toMatchObject({ code: 'not_found' });
    const shown = await world.runyard('agents', 'show', 'changing', '--as-of', agent.position);
    expect([shown.code, shown.out[0], shown.out.at(-1)]).toEqual([
      0,
      'agent     changing v1, First',
      'Be first.',
    ]);
    const listed = await world.runyard('agents', 'list', '--json');
    expect(listed.out.map((line) => (JSON.parse(line) as { name: string }).name)).toContain('Second');
  });

  test('a budget is as it stood then: before the first run of an owner nothing was spent', async () => {
    const before = new Date().toISOString();
    await world.ran('quick', 'Spend something');
    const tokens = async (...more: string[]) => {
      const { code, out } = await world.runyard('budgets', 'show', world.userId, '--json', ...more);
      return code === 0 && (JSON.parse(out.join('')) as { settled: number; reserved: number });
    };
    const now = await eventually(async () => {
      const seen = await tokens();
      return seen && seen.settled > 0 && seen.reserved === 0 && seen;
    });
    const then = await tokens('--as-of', before);
    expect(then && then.settled < now.settled).toBe(true);
    await eventually(async () => {
      const seen = await tokens('--as-of', new Date().toISOString());
      return seen && seen.settled >= now.settled;
    });
    const listed = await world.runyard('budgets', 'list', '--as-of', new Date().toISOString());
    expect(listed.out.join('\n')).toContain(world.userId);
    expect((await world.runyard('budgets', 'show', world.userId, '--week', '2020-01-05')).said).toContain(
      'not_found: The owner has no such week',
    );
  });

  test('the board is as it stood then, cards that were deleted since among them', async () => {
    const task = { title: 'Count the screws', agent_id: 'quick' };
    const { task_id, position } = await world.api.call<Row>('POST', '/v1/tasks', task);
    const { lock } = await world.api.call<{ lock: { fence: number } }>('POST', `/v1/tasks/${task_id}/lock`, {
      ttl_seconds: 60,
    });
    await world.api.call('DELETE', `/v1/tasks/${task_id}?fence=${lock.fence}`);
    const titles = async (...more: string[]) =>
      (await world.runyard('board', 'list', '--json', ...more)).out.map((line) => JSON.parse(line) as Row);
    await eventually(async () => (await titles()).length === 0);
    expect(await titles('--as-of', position, '--column', 'todo')).toMatchObject([task]);
    const shown = await world.runyard('board', 'show', task_id, '--as-of', position);
    expect([shown.code, shown.out[0]]).toEqual([0, `task      ${task_id}, Count the screws`]);
    expect((await world.runyard('board', 'show', task_id)).code).toBe(2);
  });
});

describe('runyard runs fork', () => {
  test('starts a run from a recorded one, once a key', async () => {
    const source = await world.ran('quick', 'Fork me');
    const fork = () =>
      world.runyard('runs', 'fork', source, '--step', '0', '--input', 'Other words', '--key', 'fork-1');
    const { code, out } = await fork();
    expect([code, out[0]]).toEqual([0, expect.stringMatching(/^run_[0-9a-z]{26}$/)]);
    expect((await fork()).out).toEqual(out);
    const followed = await world.runyard('runs', 'follow', out[0] ?? '');
    expect([followed.code, followed.out.at(-1)]).toEqual([0, expect.stringContaining('done at once')]);
    expect(await eventually(() => world.api.call('GET', `/v1/runs/${out[0]}`))).toMatchObject({
      trigger: 'fork',
      forked_from: source,
      forked_step: 0,
    });
  });
});

describe('runyard activity', () => {
  test('says in one line an entry who did what, newest first, with the filters of the list', async () => {
    const runId = await world.ran('quick', 'For the feed');
    const asked = () => world.runyard('activity', '--run', runId, '--json');
    const { out } = await eventually(async () => {
      const ran = await asked();
      return ran.out.length === 2 && ran;
    });
    const entries = out.map((line) => JSON.parse(line) as { kind: string; actor: string; time: string });
    expect(entries.map(({ kind }) => kind)).toEqual(['run.succeeded', 'run.queued']);
    expect(entries[1]?.actor).toBe(`user:${world.userId}`);
    const shown = await world.runyard('activity', '--topic', 'starts', '--agent', 'quick', '--limit', '1');
    expect(shown.out[0]).toMatch(/^time \(UTC\) +who +about +what/);
    expect(shown.out[1]).toContain(`user:${world.userId}  run ${runId}  started a run of quick v1 (manual)`);
    const none = await world.runyard('activity', '--to', '2020-01-01T00:00:00Z');
    expect([none.code, none.out, none.said]).toEqual([0, [], 'Nothing of the kind happened']);
    const refused = await world.runyard('activity', '--kind', 'Nonsense');
    expect([refused.code, refused.said]).toEqual([
      2,
      expect.stringContaining('must be a kind of entry, for example run.failed'),
    ]);
  });
});

describe('runyard runs', () => {
  test('an API that is not there is named as the cause, after a few tries', async () => {
    const file = join(world.folder, 'elsewhere.json');
    writeFileSync(file, JSON.stringify({ api_url: 'http://127.0.0.1:2', keys: { admin: world.key } }));
    expect(await world.runyard('--connection', file, 'runs', 'list')).toMatchObject({
      code: 2,
      said: 'runyard: GET /v1/runs got no answer (ECONNREFUSED); is Runyard running?',
    });
  });

  test('start prints the id alone on stdout, and --follow goes on to the end with exit code 0', async () => {
    const { code, out } = await world.runyard('runs', 'start', 'quick', 'Hello', '--follow');
    expect(code).toBe(0);
    expect(out[0]).toMatch(/^run_[0-9a-z]{26}$/);
    expect(out.at(-1)).toContain('done at once');
  });

  test('the same key is the same run', async () => {
    const start = () => world.runyard('runs', 'start', 'quick', 'Hello', '--key', 'one-key');
    expect((await start()).out).toEqual((await start()).out);
  });

  test('list and show say what the rows say; --json is one object a line', async () => {
    const runId = await world.ran('quick', 'What is up?');
    const { out } = await world.runyard('runs', 'list', '--agent', 'quick', '--state', 'succeeded', '--json');
    const listed = out.map((line) => JSON.parse(line) as { run_id: string; state: string });
    expect(listed[0]).toMatchObject({ run_id: runId, state: 'succeeded' });
    expect((await world.runyard('runs', 'list')).out[0]).toMatch(/^run +agent +state/);
    const shown = await world.runyard('runs', 'show', runId);
    expect(shown.out.join('\n')).toContain('succeeded (Completed)');
    expect(shown.out.at(-1)).toBe('done at once');
  });

  test('an exported run can be imported anywhere, and one that was tampered with is refused by its line', async () => {
    const runId = await world.ran('quick', 'Export me');
    const { out } = await world.runyard('runs', 'export', runId);
    const events = out.map((line) => JSON.parse(line) as { type: string; run_id: string });
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['RunQueued', 'RunSucceeded']);
    const file = join(world.folder, 'run.ndjson');
    writeFileSync(file, `${out.join('\n')}\n`);
    const imported = await world.runyard('runs', 'import', file);
    expect([imported.code, imported.said]).toEqual([
      0,
      `${out.length} events of ${runId}, whole and in order`,
    ]);
    expect((await world.runyard('runs', 'import', file, '--json')).out).toEqual(out);
    writeFileSync(file, `${[out[0], out[2], out[1]].join('\n')}\n`);
    const broken = await world.runyard('runs', 'import', file);
    expect([broken.code, broken.said]).toEqual([2, expect.stringMatching(/^runyard: Line 3: position/)]);
  });

  test('cancel is harmless said twice, and follow of a run that did not succeed ends with exit code 1', async () => {
    const started = await world.runyard('runs', 'start', 'slow', 'Wait');
    const runId = started.out[0] ?? '';
    await eventually(async () => (await world.row(runId))?.state === 'running');
    const following = world.runyard('runs', 'follow', runId, '--json');
    expect((await world.runyard('runs', 'cancel', runId)).code).toBe(0);
    const { code, out } = await following;
    expect(code).toBe(1);
    expect(JSON.parse(out.at(-1) ?? '{}')).toMatchObject({ type: 'RunCancelled' });
    expect((await world.runyard('runs', 'cancel', runId)).out).toEqual([`${runId} cancelled`]);
  });

  test('a refusal names its code and nothing of it goes to stdout: exit 2', async () => {
    const { code, out, said } = await world.runyard('runs', 'show', 'run_nobody');
    expect([code, out, said]).toEqual([2, [], expect.stringMatching(/^runyard: not_found: /)]);
    expect((await world.runyard('runs', 'lst')).said).toContain('Did you mean list?');
    for (const [words, ...args] of [
      ['runyard: "-1" is no whole number', 'runs', 'fork', 'run_nobody', '--step', '-1'],
      ['runyard: "x" is no whole number', 'doctor', '--replicas', 'x'],
      ...['runs', 'agents', 'board', 'budgets', 'bulk'].map((group) => [
        'runyard: "many" is no whole number',
        group,
        'list',
        '--limit',
        'many',
      ]),
      ['runyard: "many" is no whole number', 'activity', '--limit', 'many'],
      ['runyard: ENOENT: no such file or directory', 'runs', 'import', '/nowhere/run.ndjson'],
    ] as const) {
      const wrong = await world.runyard(...args);
      expect([wrong.code, wrong.out, wrong.said.split('\n')]).toEqual([
        2,
        [],
        [expect.stringContaining(words)],
      ]);
    }
  });
});

describe('runyard bulk', () => {
  test('says what it would be, cancels all that the filter finds, and ends with what became of each', async () => {
    await world.agent('many', 'slow');
    const started = ['one', 'two', 'three'].map((text) => world.runyard('runs', 'start', 'many', text));
    const ids = (await Promise.all(started)).map(({ out }) => out[0] ?? '');
    for (const id of ids) await eventually(async () => (await world.row(id))?.state === 'running');
    const dry = await world.runyard('bulk', 'cancel', '--agent', 'many', '--dry-run');
    expect([dry.code, dry.said]).toEqual([0, 'cancel: 3 runs, the newest are']);
    expect(dry.out.toSorted()).toEqual(ids.toSorted());
    // Nobody is there to confirm it.
    expect((await world.runyard('bulk', 'cancel', '--agent', 'many')).code).toBe(2);
    const key = ['--key', 'bulk-1'];
    const done = await world.runyard('bulk', 'cancel', '--agent', 'many', '--yes', '--json', ...key);
    const results = done.out.map((line) => JSON.parse(line) as { run_id: string; outcome: string });
    expect(results.map(({ run_id: id }) => id)).toEqual(ids.toSorted());
    expect(results.every(({ outcome }) => outcome !== 'refused')).toBe(true);
    expect([done.code, done.said]).toEqual([0, expect.stringContaining('completed: 3 of 3')]);
    for (const id of ids) await eventually(async () => (await world.row(id))?.state === 'cancelled');
    const bulkId = /blk_[0-9a-z]{26}/.exec(done.said)?.[0] ?? '';
    const again = await world.runyard('bulk', 'cancel', '--agent', 'many', '--yes', '--no-wait', ...key);
    expect(again.out).toEqual([bulkId]);
    expect((await world.runyard('bulk', 'show', bulkId)).out[0]).toContain('completed: 3 of 3');
    expect((await world.runyard('bulk', 'list')).out[0]).toContain(bulkId);
    expect((await world.runyard('bulk', 'results', bulkId)).out[0]).toMatch(/^run +outcome +state/);
    expect((await world.runyard('bulk', 'abort', bulkId)).said).toMatch(/^runyard: conflict: /);
    const listed = await world.api.call<{ data: { run_id: string }[] }>(
      'GET',
      `/v1/runs?bulk_action_id=${bulkId}`,
    );
    expect(listed.data.map(({ run_id: id }) => id).toSorted()).toEqual(ids.toSorted());
  });
});

test('runyard streams shows what lies there and who reads it how far', async () => {
  const runId = await world.ran('quick', 'For the streams');
  const { out } = await world.runyard('streams', '--json');
  const found = JSON.parse(out.join('')) as {
    streams: { name: string; messages: number; lastSequence: number }[];
    readers: { projection: string; stream: string; position: number; lag: number }[];
    missing: string[];
  };
  expect(found.missing).toEqual([]);
  const runs = found.streams.find(({ name }) => name === 'RUNS');
  expect(runs?.lastSequence).toBeGreaterThanOrEqual(Number((await world.row(runId))?.sequence));
  expect(found.readers).toContainEqual(expect.objectContaining({ projection: 'runs', stream: 'RUNS' }));
  expect(found.readers).toContainEqual(
    expect.objectContaining({ projection: 'registry-people', stream: 'PEOPLE', lag: 0 }),
  );
  expect((await world.runyard('streams')).out.join('\n')).toMatch(/run_executor\.runs@1 +\d+ +\d+/);
});

describe('runyard dead', () => {
  const letters = async () =>
    (await world.runyard('dead', 'list', '--json')).out.map(
      (line) => JSON.parse(line) as { sequence: number; reason: string; body: string; subject: string },
    );

  /** A request that nobody can handle. */
  const poison = async () => {
    const before = (await letters()).length;
    const bus = await connectEventLog({ servers: world.nats.url, name: 'spec' });
    await bus.queues.publish(requestSubject(world.org), { nonsense: before });
    await bus.close();
    await eventually(async () => (await letters()).length > before, { withinMs: 30_000 });
    return (await letters()).at(-1);
  };

  test('C77 a message that cannot be handled is listed and shown with its reason (hmchangw/newchat#346)', async () => {
    const letter = await poison();
    expect(letter?.body).toContain('nonsense');
    expect(letter?.reason).not.toBe('');
    const shown = await world.runyard('dead', 'show', String(letter?.sequence));
    expect(shown.out.join('\n')).toContain(`REQUESTS`);
    expect((await world.runyard('dead', 'list')).out.join('\n')).toContain(letter?.reason.slice(0, 20));
  });

  test('C77 a retried one is handled again, here to the same end, and its dead letter is gone (hmchangw/newchat#346)', async () => {
    const letter = await poison();
    expect((await world.runyard('dead', 'retry', String(letter?.sequence))).code).toBe(0);
    await eventually(
      async () =>
        (await letters()).some(
          (other) => other.body === letter?.body && other.sequence > (letter?.sequence ?? 0),
        ),
      { withinMs: 30_000 },
    );
    expect((await letters()).map(({ sequence }) => sequence)).not.toContain(letter?.sequence);
  });

  test('drop asks for a word, and takes --yes for it', async () => {
    const letter = await poison();
    const sequence = String(letter?.sequence);
    expect(await world.runyard('dead', 'drop', sequence)).toMatchObject({
      code: 2,
      said: expect.stringContaining('pass --yes'),
    });
    expect((await world.runyard('dead', 'drop', sequence, '--yes')).code).toBe(0);
    expect(await world.runyard('dead', 'show', sequence)).toMatchObject({ code: 2 });
    expect((await world.runyard('dead', 'show', 'x')).code).toBe(2);
  });

  test('the dead letter of a reaction sends it back to the commit that it gave up on', async () => {
    const names = await world.owner.query(
      `SELECT projection, stream, position FROM agent_registry.projection_checkpoints WHERE projection LIKE '%react%' OR projection NOT IN ('registry-people', 'registry-catalogue') ORDER BY 1`,
    );
    const reaction = names.rows[0] as { projection: string; stream: string; position: string };
    expect(Number(reaction.position)).toBeGreaterThan(0);
    const bus = await connectEventLog({ servers: world.nats.url, name: 'spec' });
    await bus.queues.publish(
      deadSubject(reaction.stream, reaction.projection),
      { sequence: 1 },
      {
        'Runyard-Dead-Stream': reaction.stream,
        'Runyard-Dead-Consumer': reaction.projection,
        'Runyard-Dead-Sequence': '1',
        'Runyard-Dead-Subject': deadSubject(reaction.stream, reaction.projection),
        'Runyard-Dead-Reason': 'spec',
      },
    );
    await bus.close();
    const letter = (await letters()).at(-1);
    const { code, said } = await world.runyard('dead', 'retry', String(letter?.sequence));
    expect([code, said]).toEqual([
      0,
      `The reaction ${reaction.projection} reads ${reaction.stream} again from 1 on`,
    ]);
    await eventually(async () => {
      const { rows } = await world.owner.query(
        'SELECT position FROM agent_registry.projection_checkpoints WHERE projection = $1 AND stream = $2',
        [reaction.projection, reaction.stream],
      );
      return Number((rows[0] as { position: string }).position) >= Number(reaction.position);
    });
  });
});

test('runyard verify proves every projection of the product', async () => {
  const { code, out } = await world.runyard('verify');
  expect([code, out.at(-1)]).toEqual([0, expect.stringMatching(/^verify: equal \d+ runs \d+ steps at \d+$/)]);
  const named = out.map((line) => line.split(':')[0]);
  for (const name of ['registry-people', 'registry-catalogue', 'run-people', 'scheduler-agents'])
    expect(named).toContain(name);
  expect((await world.runyard('verify', 'nonsense')).said).toContain('There is no projection nonsense');
});

test('runyard doctor finds nothing to mend, and says the remedy where a stream is not as declared or a reader is lost', async () => {
  const well = await world.runyard('doctor');
  expect([well.code, well.out.filter((line) => line.startsWith('MEND'))]).toEqual([0, []]);
  const other = await world.runyard('doctor', '--replicas', '3');
  expect(other.code).toBe(1);
  expect(other.out.join('\n')).toMatch(
    /MEND {2}stream RUNS: num_replicas is 1 instead of 3\n +Apply the stream/,
  );
  const lost = (incarnation: string) =>
    world.owner.query(
      `UPDATE scheduler.projection_checkpoints SET incarnation = $1 WHERE projection = 'scheduler-people'`,
      [incarnation],
    );
  const before = await world.value<string>(
    `SELECT incarnation FROM scheduler.projection_checkpoints WHERE projection = 'scheduler-people'`,
  );
  await lost('another');
  const found = await world.runyard('doctor', '--json');
  await lost(before);
  const findings = found.out.map((line) => JSON.parse(line) as { what: string; remedy?: string });
  expect(findings.filter(({ remedy }) => remedy).map(({ what }) => what)).toEqual([
    'scheduler.scheduler-people@1',
  ]);
});

test('runyard doctor says which schema lacks a step of this version, and which role reaches too far', async () => {
  const step = await world.value<string>(
    `DELETE FROM tasks.migrations WHERE id = (SELECT max(id) FROM tasks.migrations) RETURNING name`,
  );
  await world.owner.query('GRANT USAGE ON SCHEMA knowledge TO runyard_tasks');
  const { code, out } = await world.runyard('doctor');
  await world.owner.query('REVOKE USAGE ON SCHEMA knowledge FROM runyard_tasks');
  await world.owner.query('INSERT INTO tasks.migrations (timestamp, name) VALUES ($1, $2)', [
    /\d+$/.exec(step)?.[0],
    step,
  ]);
  expect(code).toBe(1);
  const said = out.join('\n');
  expect(said).toContain(`MEND  schema tasks: lacks ${step}`);
  expect(said).toContain('REVOKE ALL ON SCHEMA knowledge FROM runyard_tasks');
  expect(said).toMatch(/ok {4}clock of the bus: \d+ ms/);
  const well = await world.runyard('doctor');
  expect(well.out.filter((line) => line.startsWith('MEND'))).toEqual([]);
});

test('runyard doctor names secrets that are missing or cannot be sent, before a run needs them, and never their values', async () => {
  const model = (model_id: string, credential: string) =>
    world.api.call('POST', '/v1/models', {
      model_id,
      label: model_id,
      tier: 'fast',
      provider: { kind: 'anthropic', credential },
      model: 'm',
      context_window: 100_000,
    });
  await model('spaced', 'two-lines');
  await model('spaced-too', 'two-lines');
  await model('bare', 'not-there');
  await model('well', 'in-place');
  const env = { A: 'secret:of-a-program' };
  const server = { name: 's', transport: 'stdio', command: 'node', args: [], env };
  await world.api.call('POST', '/v1/tools', {
    name: 'program',
    description: 'A program',
    input_schema: { type: 'object' },
    effect: 'read',
    source: { kind: 'mcp', server, tool: 'x' },
  });
  const folder = join(world.platform.folders.secrets, world.org);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'two-lines'), 'sk-first\nsk-second\n');
  writeFileSync(join(folder, 'in-place'), 'sk-third\n');
  writeFileSync(join(folder, 'of-a-program'), 'any text\n');
  const mended = async () => {
    const { out } = await world.runyard('doctor', '--json');
    expect(out.join()).not.toContain('sk-');
    const found = out.map((line) => JSON.parse(line) as { what: string; found: string; remedy?: string });
    return found.filter(({ what }) => what.startsWith('secret ')).map((one) => [one.found, one.remedy ?? '']);
  };
  await eventually(async () => (await mended()).length === 4);
  expect(await mended()).toEqual([
    ['in place for model well', ''],
    ['is not set, and model bare needs it', expect.stringContaining(`/${world.org}/not-there`)],
    ['in place for tool program', ''],
    [
      expect.stringMatching(/^cannot be sent for model spaced, model spaced-too: /),
      expect.stringContaining('anew'),
    ],
  ]);
  for (const id of ['spaced', 'spaced-too', 'bare', 'well'])
    await world.api.call('DELETE', `/v1/models/${id}`);
  await eventually(async () => (await mended()).length === 1);
});
