import { BULK_EVENTS, parseSubject } from '@runyard/contracts';
import type { BulkEvent } from '@runyard/contracts';
import { eventsOf, isOrg, records, RowChanges } from '@runyard/persistence';
import type { ProjectedCommit, ProjectedEvent, Projection, RowTable, Tx } from '@runyard/persistence';
import { changed, started } from './bulk-rows';
import type { BulkRow, BulkRun } from './bulk-rows';

const TABLE: RowTable<BulkRow> = {
  name: 'bulk_actions',
  key: ['bulk_action_id'],
  columns: [
    ...(['org_id', 'action', 'filter', 'state', 'requested_by', 'user_id', 'runs', 'chosen'] as const),
    ...(['handled', 'done', 'requested', 'refused', 'created_at', 'abort_requested_at'] as const),
    ...(['abort_requested_by', 'ended_at', 'sequence', 'position'] as const),
  ],
};

/** Without it each commit of every run would come by itself, to a reader that nearly none concerns (ADR 0019). */
const GATHER_MS = 250;

/** Written with nothing but their run, and again with their result. */
const SAVE_RUNS = `
INSERT INTO bulk_action_runs (bulk_action_id, place, org_id, run_id, outcome, state, code, detail, new_run_id)
SELECT * FROM json_to_recordset($1::json) AS r (bulk_action_id text, place integer, org_id uuid, run_id text, outcome text,
  state text, code text, detail text, new_run_id text)
ON CONFLICT (bulk_action_id, place) DO UPDATE SET outcome = excluded.outcome, state = excluded.state, code = excluded.code,
  detail = excluded.detail, new_run_id = excluded.new_run_id`;

const isBulk = ({ subject }: Pick<ProjectedCommit, 'subject'>): boolean =>
  parseSubject(subject)?.context === 'bulk';

/** Bulk actions and the runs that they are about. */
export const bulkActionsProjection: Projection = {
  name: 'bulk-actions',
  version: 1,
  stream: 'RUNS',
  gatherMs: GATHER_MS,
  concerns: isBulk,
  async apply(tx, commits) {
    const own = commits.filter(isBulk);
    const keys = own.map(({ subject }) => ({ bulk_action_id: parseSubject(subject)?.id ?? '' }));
    const rows = await RowChanges.load(tx, TABLE, keys);
    const runs = new Map<string, BulkRun>();
    for (const commit of own) applyCommit(rows, runs, commit);
    await rows.save(tx);
    await saveRuns(tx, [...runs.values()]);
  },
};

/** A commit that the row reflects already is passed over as a whole. */
function applyCommit(rows: RowChanges<BulkRow>, runs: Map<string, BulkRun>, commit: ProjectedCommit): void {
  const { org = '', id = '' } = parseSubject(commit.subject) ?? {};
  if (!isOrg(org) || (rows.get({ bulk_action_id: id })?.sequence ?? 0) >= commit.sequence) return;
  for (const read of eventsOf<BulkEvent>(commit, BULK_EVENTS)) applyEvent(rows, runs, id, read);
}

function applyEvent(
  rows: RowChanges<BulkRow>,
  runs: Map<string, BulkRun>,
  id: string,
  { event, org, sequence, index }: ProjectedEvent<BulkEvent>,
): void {
  const before = rows.get({ bulk_action_id: id });
  const at = { sequence, position: `${sequence}.${index}` };
  if (event.type === 'BulkActionStarted') {
    if (!before) rows.set({ ...started(id, org, event), ...at });
    return;
  }
  // The start is gone: the org was erased.
  if (!before) return;
  const change = changed(before, event);
  for (const run of change.runs) runs.set(`${id} ${run.place}`, run);
  rows.set({ ...before, ...change.row, ...at });
}

async function saveRuns(tx: Tx, runs: readonly BulkRun[]): Promise<void> {
  if (runs.length > 0) await tx.query(SAVE_RUNS, [records(runs)]);
}
