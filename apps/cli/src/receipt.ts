import type { Installation } from './installation';
import type { Overwriting } from './overwriting';

/** What was erased, and where copies may still lie. Ids and counts; never content. */
export interface Receipt {
  erased: string;
  org_id: string;
  runs: number;
  messages_overwritten: number;
  archived_commits_removed: number;
  texts_removed: number;
  tables_vacuumed: string[];
  at: string;
  /** What this command cannot reach. */
  copies_may_remain: string[];
}

const VACUUMED = [
  'archive.event_log',
  'archive.blobs',
  'run_executor.agent_runs',
  'run_executor.agent_steps',
  'run_executor.run_entries',
];

/** Frees the space of removed rows, so that their pages are written anew. `rewrite`: at once, by writing the tables anew. */
export async function vacuum({ db }: Installation, rewrite = false): Promise<string[]> {
  for (const table of VACUUMED)
    await db.statement(`VACUUM ${rewrite ? '(FULL, ANALYZE)' : '(ANALYZE)'} ${table}`);
  if (rewrite) await db.statement('CHECKPOINT');
  return VACUUMED.map((table) => (rewrite ? `${table} (written anew)` : table));
}

export async function receiptOf(
  { db }: Installation,
  what: { erased: string; org: string; runs: number; texts: number; tables: string[] },
  { done }: Pick<Overwriting, 'done'>,
): Promise<Receipt> {
  const [wal] = await db.read((tx) =>
    tx.query<{ lsn: string; archiving: string }>(
      `SELECT pg_current_wal_lsn()::text AS lsn, current_setting('archive_mode') AS archiving`,
    ),
  );
  return {
    erased: what.erased,
    org_id: what.org,
    runs: what.runs,
    messages_overwritten: done.messages,
    archived_commits_removed: done.archived,
    texts_removed: what.texts,
    tables_vacuumed: what.tables,
    at: new Date().toISOString(),
    copies_may_remain: [
      `the write-ahead log of Postgres up to ${wal?.lsn ?? 'now'}, until its segments are reused${wal?.archiving === 'off' ? '' : ', and its archive'}`,
      'backups of Postgres and of the JetStream store made before now, until they expire; erase again after restoring one',
      'replicas and mirrors that follow the log of Postgres or the streams in their own time',
      'what clients exported, and what tools and model providers were sent',
    ],
  };
}

export function receiptLines(receipt: Receipt): string[] {
  const { copies_may_remain, tables_vacuumed, ...facts } = receipt;
  return [
    ...Object.entries(facts).map(([name, value]) => `${name.replaceAll('_', ' ').padEnd(26)}${value}`),
    `${'tables vacuumed'.padEnd(26)}${tables_vacuumed.join(', ')}`,
    'copies may remain in',
    ...copies_may_remain.map((where) => `  - ${where}`),
  ];
}
