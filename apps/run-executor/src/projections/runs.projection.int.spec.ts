import { freshDatabase } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import type { Database, ProjectedCommit } from '@runyard/persistence';
import { Client } from 'pg';
import { RUN_MIGRATIONS } from '../migrations';
import { randomLog, seeded } from './random-histories';
import type { Random } from './random-histories';
import { runsProjection } from './runs.projection';

jest.setTimeout(120_000);

const TABLES: Record<string, string> = {
  agent_runs: 'run_id',
  agent_steps: 'run_id, seq',
  run_entries: 'run_id, place',
  run_progress: 'run_id',
  conversations: 'org_id, conversation_id',
  run_keys: 'run_id',
  run_drivers: 'run_id',
  deleted_runs: 'run_id',
  deleted_conversations: 'org_id, conversation_id',
  organizations: 'org_id',
  users: 'user_id',
};

let database: TestDatabase;
let owner: Client;
let db: Database;

beforeAll(async () => {
  database = await freshDatabase([{ service: 'run-executor', migrations: RUN_MIGRATIONS }]);
  db = database.connect('run-executor');
  owner = new Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query('SET search_path = run_executor');
});
afterAll(async () => {
  await owner?.end();
  await database?.drop();
});

async function project(commits: readonly ProjectedCommit[]): Promise<void> {
  const projection = runsProjection();
  await db.acrossOrgs('test', (tx) => projection.apply(tx, commits));
}

async function rows(): Promise<Record<string, unknown[]>> {
  const all: Record<string, unknown[]> = {};
  for (const [table, order] of Object.entries(TABLES))
    all[table] = (await owner.query(`SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY ${order}`)).rows;
  return all;
}

async function empty(): Promise<void> {
  for (const table of ['organizations', 'run_keys', 'run_drivers', 'deleted_runs', 'deleted_conversations'])
    await owner.query(`DELETE FROM ${table}`);
}

function split(random: Random, commits: readonly ProjectedCommit[]): ProjectedCommit[][] {
  const parts: ProjectedCommit[][] = [];
  for (let from = 0; from < commits.length;) {
    const size = 1 + random(commits.length);
    parts.push(commits.slice(from, from + size));
    from += size;
  }
  return parts;
}

test('random histories give equal rows however they are cut into batches', async () => {
  for (let seed = 1; seed <= 8; seed++) {
    const random = seeded(seed);
    const { commits } = randomLog(random, 12);
    await empty();
    await project(commits);
    const whole = await rows();
    await empty();
    for (const part of split(random, commits)) await project(part);
    expect({ seed, ...(await rows()) }).toEqual({ seed, ...whole });
    await empty();
    for (const commit of commits) await project([commit]);
    expect({ seed, ...(await rows()) }).toEqual({ seed, ...whole });
  }
});
