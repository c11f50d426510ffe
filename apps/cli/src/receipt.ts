import type { Installation } from './installation';
import type { Overwriting } from './overwriting';
import { requestsBeside } from './queue-files';

/** What was erased, and where copies may still lie. Ids and counts; never content. */
export interface Receipt {
  erased: string;
  org_id: string;
  runs: number;
  /** With title, plan, results and report. */
  tasks: number;
  documents: number;
  /** Approvals: what was asked and what was answered. */
  questions: number;
  /** Permission rules about a person and their agents. */
  rules: number;
  dead_letters: number;
  /** That the door kept for repeated requests. */
  kept_answers: number;
  /** Schemas that replays had laid beside the live rows. */
  replays_dropped: number;
  messages_overwritten: number;
  archived_commits_removed: number;
  texts_removed: number;
  tables_vacuumed: string[];
  at: string;
  /** What this command cannot reach. */
  copies_may_remain: string[];
}

/** Tables of ours that hold rows of orgs, and the archive's. */
const TABLES = `
  SELECT n.nspname || '.' || c.relname AS name FROM pg_attribute a
  JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE a.attname = 'org_id' AND NOT a.attisdropped AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND n.nspname NOT LIKE 'replay\\_%' ORDER BY 1`;

/** Frees the space of removed rows, so that their pages are written anew. `rewrite`: at once, by writing the tables anew. */
export async function vacuum({ db }: Installation, rewrite = false): Promise<string[]> {
  const tables = (await db.read((tx) => tx.query<{ name: string }>(TABLES))).map(({ name }) => name);
  for (const table of tables)
    await db.statement(`VACUUM ${rewrite ? '(FULL, ANALYZE)' : '(ANALYZE)'} ${table}`);
  if (rewrite) await db.statement('CHECKPOINT');
  return tables.map((table) => (rewrite ? `${table} (written anew)` : table));
}

export async function receiptOf(
  installation: Installation,
  what: {
    erased: string;
    org: string;
    runs: number;
    texts: number;
    tables: string[];
    related?: readonly string[];
  },
  { done }: Pick<Overwriting, 'done'>,
): Promise<Receipt> {
  const waiting = await requestsBeside(installation);
  const [wal] = await installation.db.read((tx) =>
    tx.query<WriteAhead>(
      `SELECT pg_current_wal_lsn()::text AS lsn, current_setting('archive_mode') AS archiving`,
    ),
  );
  return {
    erased: what.erased,
    org_id: what.org,
    runs: what.runs,
    tasks: done.tasks,
    documents: done.documents,
    questions: done.questions,
    rules: done.rules,
    dead_letters: done.deadLetters,
    kept_answers: done.keptAnswers,
    replays_dropped: done.replays,
    messages_overwritten: done.messages,
    archived_commits_removed: done.archived,
    texts_removed: what.texts,
    tables_vacuumed: what.tables,
    at: new Date().toISOString(),
    copies_may_remain: copiesOf({ wal, waiting, related: what.related ?? [] }),
  };
}

interface WriteAhead {
  lsn: string;
  archiving: string;
}

interface Reach {
  wal: WriteAhead | undefined;
  /** Requests in the queue that was not empty. */
  waiting: number;
  related: readonly string[];
}

/** What no command reaches. */
export const copiesOf = ({ wal, waiting, related }: Reach): string[] => [
  `the write-ahead log of Postgres up to ${wal?.lsn ?? 'now'}, until its segments are reused${wal?.archiving === 'off' ? '' : ', and its archive'}`,
  'backups of Postgres and of the JetStream store made before now, until they expire; erase again after restoring one',
  'replicas and mirrors that follow the log of Postgres or the streams in their own time',
  'what clients exported, and what tools and model providers were sent',
  ...(waiting > 0
    ? [
        `the file of REQUESTS on the log's server, where its request lies beside ${waiting} that wait, until the last of these is handled`,
      ]
    : []),
  ...(related.length > 0
    ? [`runs that took texts over from it, or gave it theirs; erase them too: ${related.join(', ')}`]
    : []),
];

export function receiptLines(receipt: Receipt): string[] {
  const { copies_may_remain, tables_vacuumed, ...facts } = receipt;
  return [
    ...Object.entries(facts).map(([name, value]) => `${name.replaceAll('_', ' ').padEnd(26)}${value}`),
    `${'tables vacuumed'.padEnd(26)}${tables_vacuumed.join(', ')}`,
    'copies may remain in',
    ...copies_may_remain.map((where) => `  - ${where}`),
  ];
}
