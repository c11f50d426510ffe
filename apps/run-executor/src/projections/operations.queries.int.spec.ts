import type { Database } from '@runyard/persistence';
import { freshDatabase } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import { Client } from 'pg';
import { RUN_MIGRATIONS } from '../migrations';
import { OperationsQueries } from './operations.queries';
import { ORG, RunLog } from './run-log';
import { runsProjection } from './runs.projection';
import * as sample from './sample-events';

jest.setTimeout(120_000);

const AGENT = `agent:${ORG}:librarian`;
const DIALOG = `conversation:${ORG}:dialog`;

let database: TestDatabase;
let db: Database;
let owner: Client;
let operations: OperationsQueries;
let log: RunLog;

beforeAll(async () => {
  database = await freshDatabase([{ service: 'run-executor', migrations: RUN_MIGRATIONS }]);
  db = database.connect('run-executor');
  operations = new OperationsQueries(db);
  owner = new Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query('SET search_path = run_executor');
});
beforeEach(async () => {
  log = new RunLog();
  await owner.query('TRUNCATE run_slots, run_keys, run_drivers, deleted_runs, organizations CASCADE');
});
afterAll(async () => {
  await owner?.end();
  await database?.drop();
});

const project = () => db.acrossOrgs('test', (tx) => runsProjection().apply(tx, log.commits.splice(0)));
const claim = (runId: string, slots: { agentSlot?: string | null; conversationSlot?: string | null } = {}) =>
  operations.claimSlot({
    org: ORG,
    runId,
    digest: `digest of ${runId}`,
    agentSlot: AGENT,
    conversationSlot: null,
    ...slots,
  });
const slots = async () =>
  (await owner.query('SELECT slot_key, run_id, previous_run_id FROM run_slots ORDER BY 1')).rows;
const open = (...runs: string[]) => runs.map((runId) => ({ org: ORG, runId }));

describe('slots', () => {
  test('one of many claims at once wins, and the others learn who did', async () => {
    const claims = await Promise.all(Array.from({ length: 8 }, (_, index) => claim(`run_${index}`)));
    const won = claims.filter(({ outcome }) => outcome === 'claimed');
    const [slot] = await slots();
    expect(won).toHaveLength(1);
    for (const lost of claims.filter(({ outcome }) => outcome === 'held'))
      expect(lost).toEqual({ outcome: 'held', slotKey: AGENT, holder: slot.run_id });
  });

  test('claiming again for the same run is the same claim', async () => {
    expect(await claim('run_1')).toEqual({ outcome: 'claimed', previousRunId: null });
    expect(await claim('run_1')).toEqual({ outcome: 'claimed', previousRunId: null });
    expect(await slots()).toHaveLength(1);
  });

  test('both slots or none', async () => {
    await claim('run_1', { agentSlot: null, conversationSlot: DIALOG });
    expect(await claim('run_2', { conversationSlot: DIALOG })).toEqual({
      outcome: 'held',
      slotKey: DIALOG,
      holder: 'run_1',
    });
    expect(await slots()).toEqual([{ slot_key: DIALOG, run_id: 'run_1', previous_run_id: null }]);
  });

  test('an ended holder is replaced by exactly one, and the conversation remembers the turn before', async () => {
    await claim('run_1', { conversationSlot: DIALOG });
    await operations.releaseSlots(ORG, 'run_1');
    const replaced = await Promise.all([
      operations.replaceHolder(DIALOG, 'run_1', 'run_2'),
      operations.replaceHolder(DIALOG, 'run_1', 'run_3'),
    ]);
    expect(replaced.toSorted()).toEqual([false, true]);
    const winner = replaced[0] ? 'run_2' : 'run_3';
    expect(await claim(winner, { conversationSlot: DIALOG })).toEqual({
      outcome: 'claimed',
      previousRunId: 'run_1',
    });
    expect(await slots()).toEqual([
      { slot_key: AGENT, run_id: winner, previous_run_id: null },
      { slot_key: DIALOG, run_id: winner, previous_run_id: 'run_1' },
    ]);
    await operations.giveBack(ORG, winner);
    expect(await slots()).toEqual([{ slot_key: DIALOG, run_id: 'run_1', previous_run_id: null }]);
  });

  test('the holder of a slot is known by its key', async () => {
    await claim('run_1', { agentSlot: null, conversationSlot: DIALOG });
    expect([await operations.holderOf(DIALOG), await operations.holderOf(AGENT)]).toEqual(['run_1', null]);
  });

  test('a slot is freed from exactly the holder that is named', async () => {
    await claim('run_1');
    await operations.freeSlot(AGENT, 'run_0');
    expect(await slots()).toHaveLength(1);
    await operations.freeSlot(AGENT, 'run_1');
    expect(await slots()).toEqual([]);
  });

  test('a key that was used is known for ever, also after its run was deleted or fenced', async () => {
    log.run('run_1', [sample.queued('run_1'), sample.started(), sample.cancelled()]);
    log.run('run_1', [sample.deleted()]);
    log.run('run_2', [sample.failed()]);
    log.run('run_3', [sample.queued('run_3')]);
    await project();
    expect(await claim('run_1')).toEqual({ outcome: 'known', digest: 'request of run_1', ended: true });
    expect(await claim('run_2')).toEqual({ outcome: 'known', digest: null, ended: true });
    expect(await claim('run_3')).toEqual({ outcome: 'known', digest: 'request of run_3', ended: false });
    expect(await slots()).toEqual([]);
  });

  test('slots without a run, and slots of runs that ended, are found', async () => {
    await claim('run_lost');
    await claim('run_ended', { agentSlot: `agent:${ORG}:clerk` });
    log.run('run_ended', [sample.queued('run_ended'), sample.cancelled()]);
    await project();
    expect(await operations.unbornSlots(60_000, 10)).toEqual([]);
    await owner.query(`UPDATE run_slots SET claimed_at = now() - interval '61 seconds'`);
    expect(await operations.unbornSlots(60_000, 10)).toEqual(open('run_lost'));
    expect(await operations.endedHolders(10)).toEqual(open('run_ended'));
  });
});

describe('drivers', () => {
  beforeEach(async () => {
    for (const [index, instance] of ['one', 'one', 'two'].entries())
      log.run(`run_${index}`, [sample.queued(`run_${index}`), sample.started(1, instance)]);
    await project();
  });

  test("are listed by instance; a heartbeat moves only one's own", async () => {
    expect(await operations.otherInstances('one')).toEqual(['two']);
    expect(await operations.runsOf('one', 10)).toEqual(open('run_0', 'run_1'));
    expect(await operations.silentDrivers(90_000, 10)).toHaveLength(3);
    await operations.heartbeat(['run_0', 'run_2'], 'one');
    expect(await operations.runsOf('one', 1)).toEqual(open('run_1'));
    expect((await operations.silentDrivers(90_000, 10)).map(({ runId }) => runId).toSorted()).toEqual([
      'run_1',
      'run_2',
    ]);
    expect(await operations.heartbeatAge('run_0')).toBeLessThan(60_000);
    expect(await operations.heartbeatAge('run_missing')).toBeNull();
  });

  test('a heartbeat waits for nobody: rows that the projection is writing are passed over', async () => {
    await owner.query('BEGIN');
    await owner.query("DELETE FROM run_drivers WHERE run_id = 'run_0'");
    await operations.heartbeat(['run_0', 'run_1'], 'one');
    await owner.query('ROLLBACK');
    expect(await operations.heartbeatAge('run_1')).toBeLessThan(60_000);
    expect(await operations.heartbeatAge('run_0')).toBeGreaterThan(60_000);
  });

  test('queued and woken runs that nobody claimed are found, driven and parked ones are not', async () => {
    log.run('run_queued', [sample.queued('run_queued')]);
    log.run('run_woken', [sample.queued('run_woken'), sample.started(), sample.paused(), sample.resumed()]);
    log.run('run_parked', [sample.queued('run_parked'), sample.started(), sample.paused()]);
    await project();
    expect(await operations.unclaimed(5_000, 10)).toEqual(open('run_queued', 'run_woken'));
    expect(await operations.unclaimed(1e12, 10)).toEqual([]);
  });

  test('expired pauses and cancels that nobody obeyed are found', async () => {
    log.run('run_expired', [
      sample.queued('run_expired'),
      sample.started(),
      sample.paused(Date.UTC(2026, 0, 6)),
    ]);
    log.run('run_later', [sample.queued('run_later'), sample.started(), sample.paused(Date.UTC(2200, 0, 1))]);
    log.run('run_0', [sample.cancelRequested()]);
    await project();
    expect(await operations.expiredPauses(10)).toEqual(open('run_expired'));
    expect(await operations.overdueCancels(10_000, 10)).toEqual(open('run_0'));
  });
});
