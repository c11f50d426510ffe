import type { RunErased } from '@runyard/contracts';
import type { Database, ProjectedCommit } from '@runyard/persistence';
import { freshDatabase } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import { Client } from 'pg';
import { RUN_MIGRATIONS } from '../migrations';
import { RunLog, USER } from './run-log';
import { RUN_TABLES } from './run-tables';
import { runsProjection } from './runs.projection';
import * as sample from './sample-events';

jest.setTimeout(120_000);

let database: TestDatabase;
let db: Database;
let owner: Client;

beforeEach(async () => {
  database = await freshDatabase([{ service: 'run-executor', migrations: RUN_MIGRATIONS }]);
  db = database.connect('run-executor');
  owner = new Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query('SET search_path = run_executor');
});
afterEach(async () => {
  await owner?.end();
  await database?.drop();
});

const project = (commits: readonly ProjectedCommit[]): Promise<void> =>
  db.acrossOrgs('test', (tx) => runsProjection().apply(tx, commits));

async function rows(): Promise<Record<string, unknown[]>> {
  const all: Record<string, unknown[]> = {};
  for (const table of [...RUN_TABLES.verified, 'run_keys', 'run_drivers'])
    all[table] = (await owner.query(`SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY t::text`)).rows;
  return all;
}

async function emptied(): Promise<void> {
  for (const table of ['organizations', 'run_keys', 'run_drivers', 'deleted_runs', 'deleted_conversations'])
    await owner.query(`DELETE FROM ${table}`);
}

const talk = (id: string, previousRunId: string | null) => ({
  commits: [
    [sample.queued(id, { conversationId: 'talk', previousRunId })],
    ...sample.typicalCommits(id, 2).slice(1),
  ],
});

/** When a run's last commit before a sequence was made. */
const endOf = (log: RunLog, id: string, before: number): number =>
  log.commits.findLast(({ subject, sequence }) => subject.endsWith(`.${id}`) && sequence < before)
    ?.storedAt ?? 0;

/** Three turns of a dialog, of which the first and the second are erased; the second had been deleted before. */
function history(): { log: RunLog; erased: string[] } {
  const log = new RunLog();
  for (const [id, previous] of [
    ['run_1', null],
    ['run_2', 'run_1'],
    ['run_3', 'run_2'],
  ] as const)
    for (const events of talk(id, previous).commits) log.run(id, events);
  const deletion = log.run('run_2', [sample.deleted()]);
  const [first] = log.commits;
  const common = { agentId: 'librarian', state: 'succeeded', endedAt: log.time, cachedTokens: 0 } as const;
  const conversation = { conversationId: 'talk', userId: USER, createdAt: first?.storedAt ?? 0 };
  const counts = { inputTokens: 300, outputTokens: 60 };
  const one: RunErased['data'] = {
    ...common,
    ...counts,
    runId: 'run_1',
    requestDigest: 'request of run_1',
    previousRunId: null,
    deletion: null,
    conversation,
  };
  const two: RunErased['data'] = {
    ...one,
    inputTokens: 200,
    outputTokens: 40,
    endedAt: endOf(log, 'run_2', deletion.sequence),
    runId: 'run_2',
    requestDigest: 'request of run_2',
    previousRunId: 'run_1',
    deletion: { sequence: deletion.sequence, time: deletion.storedAt },
    conversation: null,
  };
  log.erasures([one, two].map((data) => ({ type: 'RunErased', data })));
  log.run('run_4', [sample.queued('run_4', { conversationId: 'talk', previousRunId: 'run_3' })]);
  return { log, erased: ['run_1', 'run_2'] };
}

/** What the log still holds after their messages were overwritten. */
const overwritten = ({ log, erased }: ReturnType<typeof history>): ProjectedCommit[] =>
  log.commits.filter(({ subject }) => !erased.includes(subject.split('.').at(-1) ?? ''));

describe('runs that were erased', () => {
  it('leave a tombstone without content, and their conversation as it was', async () => {
    const { log } = history();
    await project(log.commits);
    const found = await rows();
    expect(found.agent_runs).toHaveLength(2);
    expect(found.deleted_runs).toMatchObject([
      { row: { run_id: 'run_1', input_tokens: 300, previous_run_id: null } },
      { row: { run_id: 'run_2', previous_run_id: 'run_1' } },
    ]);
    expect(found.run_keys).toHaveLength(4);
    expect(JSON.stringify(found.deleted_runs)).not.toContain('What is due today?');
  });

  it('are the same to a rebuild that finds their messages overwritten, and to one that was interrupted before', async () => {
    const told = history();
    for (const commit of told.log.commits) await project([commit]);
    const live = await rows();
    await emptied();
    await project(overwritten(told));
    expect(await rows()).toEqual(live);
    await emptied();
    await project(told.log.commits);
    expect(await rows()).toEqual(live);
    await project(told.log.commits);
    expect(await rows()).toEqual(live);
  });
});
