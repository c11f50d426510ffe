import type { TableComparison, Verification } from '@runyard/persistence';

type Row = Record<string, unknown>;

/** Columns that name a row, by table. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  agent_runs: ['run_id'],
  agent_steps: ['run_id', 'seq'],
  run_entries: ['run_id', 'place'],
  run_progress: ['run_id'],
  conversations: ['org_id', 'conversation_id'],
  deleted_runs: ['run_id'],
  deleted_conversations: ['org_id', 'conversation_id'],
};

/** Longest value that a difference shows. */
const SHOWN = 120;

export const isEqual = ({ tables }: Verification): boolean =>
  tables.every(({ missing, extra }) => missing === 0 && extra === 0);

export const rowsOf = ({ tables }: Verification, name: string): number =>
  tables.find(({ table }) => table === name)?.rows ?? 0;

/** What differs, in lines for people: counts per table, then examples with the columns that differ. */
export function differences({ tables }: Verification): string[] {
  return tables
    .filter(({ missing, extra }) => missing > 0 || extra > 0)
    .flatMap((table) => [
      `${table.table}: ${table.extra} live rows that the log does not give, ${table.missing} rows of the log that are not live`,
      ...examples(table),
    ]);
}

function examples({ table, samples }: TableComparison): string[] {
  const rebuilt = samples.missing as Row[];
  const live = samples.extra as Row[];
  const key = (row: Row): string =>
    (KEYS[table] ?? []).map((name) => `${name} ${String(row[name])}`).join(', ');
  const changed = live.flatMap((row) => {
    const other = rebuilt.find((candidate) => key(candidate) === key(row));
    return other
      ? changedColumns(row, other).map((line) => `  ${key(row)}: ${line}`)
      : [`  ${key(row)}: only live`];
  });
  const lost = rebuilt.filter((row) => !live.some((candidate) => key(candidate) === key(row)));
  return [...changed, ...lost.map((row) => `  ${key(row)}: only in the log`)];
}

function changedColumns(live: Row, rebuilt: Row): string[] {
  return Object.keys(live)
    .filter((name) => JSON.stringify(live[name]) !== JSON.stringify(rebuilt[name]))
    .map((name) => `${name} is ${shown(live[name])}, and ${shown(rebuilt[name])} by the log`);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
