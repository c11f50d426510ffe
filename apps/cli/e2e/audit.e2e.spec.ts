import { eventually } from '@runyard/testing';
import { World } from './world';

jest.setTimeout(240_000);

const answer = { expect: [{ role: 'user', any: true }], text: 'done', usage: { input: 10, output: 5 } };
/** Runs hold what they reserved for as long as the last of the race needs to ask. */
const slow = { ...answer, delay_ms: 40_000 };

interface Row {
  state: string;
  reason: string | null;
}

describe('caps over the whole product, and the proof that ledger and runs agree', () => {
  let world: World;
  let hello: string;
  beforeAll(async () => void (world = await World.open({ recordings: { quick: [answer], slow: [slow] } })));
  afterAll(() => world?.close());

  const setCap = (tokens: number | null) =>
    world.api.call('PUT', `/v1/budget-caps/owners/${world.userId}`, { tokens });
  const budget = () =>
    world.api.call<{ settled: number; reserved: number; left: number | null }>(
      'GET',
      `/v1/budgets/${world.userId}`,
    );
  /** Changes the one row of a run that a projection has written, as soon as it is there. */
  const tampered = (sql: string, run: string) =>
    eventually(async () => (await world.owner.query(sql, [run])).rowCount === 1);

  it('lets exactly ten of 64 starts at once run where there is room for ten, and skips the rest', async () => {
    await setCap(50_000);
    const starts = Array.from({ length: 64 }, (_, i) =>
      world.api.call<{ run_id: string }>('POST', '/v1/runs', {
        agent_id: 'slow',
        input: `race ${i}`,
        bounds: { token_budget: 5_000 },
      }),
    );
    const ids = (await Promise.all(starts)).map(({ run_id }) => run_id);
    const rows = await eventually(
      async () => {
        const sql =
          'SELECT state, reason FROM run_executor.agent_runs WHERE run_id = ANY ($1) AND ended_at IS NOT NULL';
        const found = (await world.owner.query<Row>(sql, [ids])).rows;
        return found.length === ids.length && found;
      },
      { withinMs: 120_000 },
    );
    const ends = rows.map(({ state, reason }) => `${state} ${reason ?? ''}`.trim());
    expect(new Set(ends)).toEqual(new Set(['succeeded', 'skipped budget_exceeded']));
    expect(ends.filter((end) => end === 'succeeded')).toHaveLength(10);
    expect(ends.filter((end) => end === 'skipped budget_exceeded')).toHaveLength(54);
    await eventually(async () => (await budget()).reserved === 0);
    expect(await budget()).toMatchObject({ settled: 150, left: 49_850 });
    await setCap(null);
  });

  it('reports what was spent by model and day, and nothing of others', async () => {
    hello = await world.ran('quick', 'hello');
    await eventually(async () => (await budget()).settled === 165);
    const { data } = await eventually(async () => {
      const report = await world.api.call<{ data: object[] }>('GET', '/v1/spend?group_by=model,tier');
      return report.data.length === 2 && report;
    });
    expect(data).toMatchObject([
      { model_id: 'quick', tier: 'fast', total_tokens: 15, runs: 1 },
      { model_id: 'slow', tier: 'fast', total_tokens: 150, runs: 10 },
    ]);
  });

  it('proves that ledger and runs agree, also about a run that was deleted', async () => {
    const run = await world.ran('quick', 'to be deleted');
    await world.api.call('DELETE', `/v1/runs/${run}`);
    await eventually(async () => (await world.row(run)) === undefined);
    const { code, out, said } = await world.runyard('audit');
    expect({ code, out, said }).toEqual({
      code: 0,
      said: '',
      out: ['audit: equal 12 trees 1 weeks 180 tokens'],
    });
  });

  it('prints every difference and ends with 1 where they do not agree', async () => {
    const run = await world.ran('quick', 'to be tampered with');
    // Ledger, rows of runs and archive follow the log each in its own time; the audit itself waits for the archive.
    await eventually(async () => (await budget()).settled === 195);
    await tampered(
      'UPDATE run_executor.agent_runs SET input_tokens = input_tokens + 1 WHERE run_id = $1',
      run,
    );
    await tampered("UPDATE budget_ledger.spend_lines SET model_id = 'other' WHERE root_run_id = $1", run);
    const { code, out } = await world.runyard('audit');
    expect(code).toBe(1);
    expect(out.at(-1)).toBe('audit: different 13 trees 1 weeks 195 tokens');
    expect(out.map((text) => text.replace(/ of org .*:/, ':'))).toEqual([
      `tree ${run}: the ledger has 15, the runs have 16`,
      expect.stringContaining('the ledger has 195, the runs have 196'),
      `model ${run} other: the ledger has 15, the runs have 0`,
      `model ${run} quick: the ledger has 0, the runs have 15`,
      out.at(-1),
    ]);
    const { out: json } = await world.runyard('audit', '--json');
    expect(JSON.parse(json[0] ?? '')).toMatchObject({ equal: false, trees: 13 });
  });

  it('counts a run that the archive lost as a difference, not as an erased one', async () => {
    const lose = "DELETE FROM archive.event_log WHERE stream = 'RUNS' AND subject LIKE '%.' || $1";
    expect((await world.owner.query(lose, [hello])).rowCount).toBeGreaterThan(0);
    const { code, out } = await world.runyard('audit');
    expect(code).toBe(1);
    expect(out).toContainEqual(
      expect.stringMatching(`^model ${hello} quick .*: the ledger has 15, the runs have 0$`),
    );
  });
});
