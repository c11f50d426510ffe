import { MODES, OUTCOMES, RUN_STATES, TRIGGERS, UNFINISHED_STATES } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { freshDatabase } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import { Client } from 'pg';
import { RUN_MIGRATIONS } from '../migrations';
import { TENANT_TABLES } from '../migrations/0006-access';
import { RunLog, ORG, OTHER_ORG } from './run-log';
import { runsProjection } from './runs.projection';
import { typicalRun, queued } from './sample-events';

jest.setTimeout(120_000);

let database: TestDatabase;
let db: Database;
let owner: Client;

beforeAll(async () => {
  database = await freshDatabase([{ service: 'run-executor', migrations: RUN_MIGRATIONS }]);
  db = database.connect('run-executor');
  owner = new Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query('SET search_path = run_executor');
  await owner.query('INSERT INTO organizations VALUES ($1), ($2)', [ORG, OTHER_ORG]);
});
afterAll(async () => {
  await owner?.end();
  await database?.drop();
});

const ROW = {
  run_id: 'planted',
  org_id: ORG,
  root_run_id: 'planted',
  owner_id: 'o',
  requested_by: 'user:x',
  agent_id: 'librarian',
  trigger: 'manual',
  state: 'queued',
  tier: 'fast',
  created_at: '2026-01-05T09:00:00Z',
  sequence: 1,
  position: '1.0',
};
const ENDED = { started_at: '2026-01-05T09:00:01Z', ended_at: '2026-01-05T09:00:02Z' };
const RUNNING = { state: 'running', started_at: '2026-01-05T09:00:01Z' };
const FAILED = {
  ...ENDED,
  state: 'failed',
  termination: 'Error',
  reason: 'error',
  error: { code: 'error', text: 'x' },
};

/** Plants a row and takes it away again: undefined where it is accepted, else the constraint that refused it. */
async function plant(...rows: Record<string, unknown>[]): Promise<string | undefined> {
  await owner.query('BEGIN');
  try {
    for (const changed of rows) {
      const row: Record<string, unknown> = { ...ROW, ...changed };
      const names = Object.keys(row);
      await owner.query(
        `INSERT INTO agent_runs (${names.join(', ')}) VALUES (${names.map((_, i) => `$${i + 1}`).join(', ')})`,
        Object.values(row),
      );
    }
    return undefined;
  } catch (error) {
    const { constraint, column, message } = error as {
      constraint?: string;
      column?: string;
      message: string;
    };
    return constraint ?? column ?? message;
  } finally {
    await owner.query('ROLLBACK');
  }
}

describe('what the database refuses', () => {
  test('every outcome of the table is accepted', async () => {
    for (const outcome of OUTCOMES) {
      const row = {
        ...ENDED,
        ...(outcome.state === 'skipped' ? { started_at: null, ended_at: ROW.created_at } : {}),
        state: outcome.state,
        termination: outcome.termination,
        reason: outcome.reason,
        output: outcome.state === 'succeeded' ? '' : null,
        error: outcome.state === 'failed' ? { code: 'x', text: '' } : null,
      };
      expect({ outcome, refused: await plant(row) }).toEqual({ outcome, refused: undefined });
    }
  });

  test('status is generated for every outcome and every unfinished state', async () => {
    const rows = [
      ...OUTCOMES.map((outcome) => ({ ...outcome, ended: true })),
      ...UNFINISHED_STATES.map((state) => ({
        state,
        termination: null,
        reason: null,
        status: 'running',
        ended: false,
      })),
    ];
    for (const [index, { state, termination, reason, status, ended }] of rows.entries()) {
      const started = state === 'skipped' || state === 'queued' ? null : ROW.created_at;
      await owner.query(
        `INSERT INTO agent_runs (run_id, org_id, root_run_id, owner_id, requested_by, agent_id, trigger, state, termination, reason, tier, created_at,
           started_at, ended_at, output, error, sequence, position)
         VALUES ($1, $2, $1, 'o', 'user:x', 'a', 'eval', $3, $4, $5, 'fast', $6, $7, $8, '', '{"code": "", "text": ""}', 1, '1.0')`,
        [
          `status_${index}`,
          ORG,
          state,
          termination,
          reason,
          ROW.created_at,
          started,
          ended ? ROW.created_at : null,
        ],
      );
      const stored = await owner.query('SELECT status FROM agent_runs WHERE run_id = $1', [
        `status_${index}`,
      ]);
      expect([state, reason, stored.rows[0].status]).toEqual([state, reason, status]);
    }
    await owner.query(`DELETE FROM agent_runs WHERE run_id LIKE 'status_%'`);
  });

  test('every pair of termination and reason that is no row of the table is refused', async () => {
    const words = (key: 'state' | 'termination' | 'reason') => [
      ...new Set([...OUTCOMES.map((outcome) => outcome[key]), null]),
    ];
    await owner.query(`CREATE FUNCTION accepted(s text, t text, r text) RETURNS boolean LANGUAGE plpgsql AS $body$
      BEGIN
        INSERT INTO agent_runs (run_id, org_id, root_run_id, owner_id, requested_by, agent_id, trigger, state, termination, reason,
          tier, created_at, started_at, ended_at, output, error, sequence, position)
        VALUES ('pair', '${ORG}', 'pair', 'o', 'user:x', 'a', 'eval', s, t, r, 'fast', now(), CASE WHEN s <> 'skipped' THEN now() END,
          CASE WHEN s NOT IN ('queued', 'running', 'awaiting_approval', 'paused', 'waiting') THEN now() END,
          '', '{"code": "", "text": ""}', 1, '1.0');
        DELETE FROM agent_runs WHERE run_id = 'pair';
        RETURN true;
      EXCEPTION WHEN check_violation THEN RETURN false;
      END $body$`);
    const { rows } = await owner.query(
      `SELECT s, t, r FROM unnest($1::text[]) s, unnest($2::text[]) t, unnest($3::text[]) r WHERE accepted(s, t, r)`,
      [RUN_STATES, words('termination'), words('reason')],
    );
    const legal = [
      ...OUTCOMES.map(({ state, termination, reason }) => `${state} ${termination} ${reason}`),
      ...UNFINISHED_STATES.map((state) => `${state} null null`),
    ];
    expect(rows.map(({ s, t, r }) => `${s} ${t} ${r}`).toSorted()).toEqual(legal.toSorted());
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['an unknown state', { state: 'sleeping' }, 'agent_runs_known_state'],
    ['an unknown trigger', { trigger: 'wish' }, 'agent_runs_known_trigger'],
    ['an unknown mode', { mode: 'yolo' }, 'agent_runs_known_mode'],
    [
      'success without output',
      { ...ENDED, state: 'succeeded', termination: 'Completed' },
      'agent_runs_output_on_success',
    ],
    ['failure without error', { ...FAILED, error: null }, 'agent_runs_error_on_failure'],
    ['an error without code', { ...FAILED, error: { text: 'x' } }, 'agent_runs_error_on_failure'],
    ['entries that are no array', { entries: '{}' }, 'agent_runs_entries_are_an_array'],
    [
      'an end before the start',
      { ...FAILED, ended_at: '2026-01-05T09:00:00Z' },
      'agent_runs_ends_after_start',
    ],
    ['an end while unfinished', { ...RUNNING, ended_at: ENDED.ended_at }, 'agent_runs_terminal_when_ended'],
    ['a terminal state without end', { ...FAILED, ended_at: null }, 'agent_runs_terminal_when_ended'],
    ['running without start', { state: 'running' }, 'agent_runs_started_when_running'],
    ['negative counts', { input_tokens: -1 }, 'agent_runs_no_negative_counts'],
    ['its own parent', { parent_run_id: 'planted' }, 'agent_runs_no_self_parent'],
    ['a missing tier', { tier: null }, 'tier'],
    ['a missing org', { org_id: null }, 'org_id'],
    ['an unknown org', { org_id: '99999999-9999-4999-8999-999999999999' }, 'agent_runs_org_id_fkey'],
  ])('%s is refused', async (_what, row, constraint) => {
    expect(await plant(row)).toBe(constraint);
  });

  test('known states, triggers and modes are those of the contracts', async () => {
    for (const trigger of TRIGGERS) expect(await plant({ trigger })).toBeUndefined();
    for (const mode of MODES) expect(await plant({ mode })).toBeUndefined();
  });

  test('one active run per slot, whatever unfinished state it is in; ended ones do not count', async () => {
    const slot = { slot_key: `agent:${ORG}:librarian` };
    for (const state of UNFINISHED_STATES) {
      const holder = { ...slot, state, started_at: state === 'queued' ? null : ENDED.started_at };
      expect(await plant(holder, { ...slot, run_id: 'second' })).toBe('agent_runs_one_active');
    }
    expect(await plant({ ...slot, ...FAILED }, { ...slot, run_id: 'second' })).toBeUndefined();
    expect(await plant({}, { run_id: 'second' })).toBeUndefined();
  });

  test('one unfinished top-level run per conversation; delegated ones do not count', async () => {
    await owner.query(`INSERT INTO conversations VALUES ($1, 'dialog', NULL, '', now())`, [ORG]);
    const turn = { conversation_id: 'dialog' };
    expect(await plant(turn, { ...turn, run_id: 'second' })).toBe('agent_runs_one_turn_at_a_time');
    expect(await plant(turn, { ...turn, run_id: 'child', depth: 1 })).toBeUndefined();
    expect(await plant({ ...turn, ...FAILED }, { ...turn, run_id: 'second' })).toBeUndefined();
  });

  test('steps are immutable, for the owner of the tables too', async () => {
    const log = new RunLog();
    typicalRun(log, 'run_fixed', 2);
    await db.acrossOrgs('test', (tx) => runsProjection().apply(tx, log.commits));
    await expect(owner.query(`UPDATE agent_steps SET content = 'forged'`)).rejects.toThrow(
      'run_executor.agent_steps rows are immutable',
    );
    await expect(
      db.inOrg(ORG, (tx) => tx.query(`UPDATE agent_steps SET content = 'forged'`)),
    ).rejects.toThrow(/permission denied/);
  });

  test('table and columns say what they are for', async () => {
    const { rows } = await owner.query(
      `SELECT attname FROM pg_attribute WHERE attrelid = 'agent_runs'::regclass AND attnum > 0 AND NOT attisdropped
       AND col_description(attrelid, attnum) IS NULL`,
    );
    expect(rows).toEqual([]);
    const table = await owner.query(`SELECT obj_description('agent_runs'::regclass) AS text`);
    expect(table.rows[0].text).toContain('One row a run');
  });
});

describe('row-level security', () => {
  test('rows of another org are not there, and cannot be written', async () => {
    const log = new RunLog(1_000);
    log.run('run_foreign', [queued('run_foreign')], 10, OTHER_ORG);
    await db.acrossOrgs('test', (tx) => runsProjection().apply(tx, log.commits));
    const seen = (org: string) =>
      db.inOrg(org, (tx) => tx.query(`SELECT run_id FROM agent_runs WHERE run_id = 'run_foreign'`));
    expect(await seen(OTHER_ORG)).toHaveLength(1);
    expect(await seen(ORG)).toEqual([]);
    await expect(
      db.inOrg(ORG, (tx) =>
        tx.query(
          `INSERT INTO run_slots (slot_key, run_id, org_id, digest) VALUES ('agent:x:y', 'r', $1, '')`,
          [OTHER_ORG],
        ),
      ),
    ).rejects.toThrow(/row-level security/);
  });

  test('every table with an org has policies for both roles, and the roles own nothing', async () => {
    const { rows } = await owner.query(
      `SELECT c.relname AS name, c.relrowsecurity AS secured, count(p.*)::int AS policies
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id' LEFT JOIN pg_policies p ON p.schemaname = 'run_executor' AND p.tablename = c.relname
       WHERE c.relnamespace = 'run_executor'::regnamespace AND c.relkind = 'r' GROUP BY 1, 2 ORDER BY 1`,
    );
    expect(rows.map(({ name }) => name)).toEqual(
      [...TENANT_TABLES, 'agent_steps', 'retention_settings', 'bulk_actions', 'bulk_action_runs'].toSorted(),
    );
    for (const row of rows) expect(row).toEqual({ name: row.name, secured: true, policies: 2 });
  });

  test('without an org no row is visible', async () => {
    const client = new Client({ connectionString: database.urlFor('run-executor') });
    await client.connect();
    try {
      const { rows } = await client.query('SELECT run_id FROM agent_runs');
      expect(rows).toEqual([]);
    } finally {
      await client.end();
    }
  });
});
