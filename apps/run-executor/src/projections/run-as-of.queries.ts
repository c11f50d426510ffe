import { Problem } from '@runyard/contracts';
import { rowsAsOf } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import { RUN_TABLES } from './run-tables';
import { answer, FROM_RUNS, WHOLE } from './run-views';
import type { Answer } from './run-views';
import { runsProjection } from './runs.projection';

/** A run as its row was. Throws `not_found` where it was not there then. */
export function runAsOf(db: Database, org: string, id: string, asOf: string): Promise<Answer> {
  const tables = [...RUN_TABLES.verified, ...RUN_TABLES.work];
  const past = {
    org,
    context: 'runs',
    ids: [id],
    named: id,
    asOf,
    projection: runsProjection(),
    tables,
  } as const;
  return rowsAsOf(db, past, async (tx) => {
    const [row] = await tx.query(`SELECT ${WHOLE} FROM ${FROM_RUNS} WHERE a.run_id = $1`, [id]);
    if (!row) throw new Problem('not_found', `There was no run ${id} as of ${asOf}`);
    return answer(row);
  });
}
