import type { TableComparison, Verification } from '@runyard/persistence';
import type { InstalledProjection } from './projections';
import type { SkippedType } from './skipped-events';
import { EXIT } from './terminal';
import type { Terminal } from './terminal';

/** A projection that was rebuilt and compared. */
export interface Verified {
  entry: InstalledProjection;
  verification: Verification;
  skipped: readonly SkippedType[];
}

type Row = Record<string, unknown>;

/** Columns that name a row: the first set that a table has whole. */
const KEYS: readonly (readonly string[])[] = [
  ['run_id', 'seq'],
  ['run_id', 'place'],
  ['run_id'],
  ['task_id'],
  ['approval_id'],
  ['rule_id'],
  ['agent_id', 'agent_version'],
  ['agent_id', 'tool'],
  ['agent_id'],
  ['org_id', 'conversation_id'],
  ['key_id'],
  ['user_id'],
  ['model_id'],
  ['name'],
  ['org_id'],
];

function keyOf(row: Row): string {
  const names = KEYS.find((set) => set.every((name) => row[name] !== undefined)) ?? [];
  return names.map((name) => `${name} ${String(row[name])}`).join(', ');
}

/** Longest value that a difference shows. */
const SHOWN = 120;

/** Prints what was found and returns the exit code. The rows of runs come last: their line is the verdict. */
export function report(
  results: readonly Verified[],
  { json }: { json?: boolean },
  terminal: Terminal,
): number {
  const equal = results.every(({ verification }) => isEqual(verification));
  for (const { type, times, first_position } of results.flatMap(({ skipped }) => skipped))
    terminal.say(`skipped ${times} events of the unknown type ${type}, the first at ${first_position}`);
  if (json) terminal.out(JSON.stringify(asJson(results, equal)));
  const tell = (line: string): void => (json ? terminal.say(line) : terminal.out(line));
  for (const { verification } of results)
    if (!isEqual(verification)) for (const line of differences(verification)) tell(line);
  for (const one of results) if (!isOfRuns(one)) tell(lineOf(one));
  const runs = results.find(isOfRuns);
  if (runs) tell(verdict(runs, equal));
  else if (results.length === 0) terminal.say('Nothing has been projected here yet');
  return equal ? EXIT.ok : EXIT.found;
}

const isOfRuns = ({ entry }: Verified): boolean => entry.projection.name === 'runs';

const word = (equal: boolean): string => (equal ? 'equal' : 'different');

function lineOf({ entry, verification }: Verified): string {
  const rows = verification.tables.reduce((sum, { rows: count }) => sum + count, 0);
  return `${entry.projection.name}: ${word(isEqual(verification))} ${rows} rows at ${verification.position}`;
}

function verdict({ verification }: Verified, equal: boolean): string {
  const runs = rowsOf(verification, 'agent_runs');
  const steps = rowsOf(verification, 'agent_steps');
  return `verify: ${word(equal)} ${runs} runs ${steps} steps at ${verification.position}`;
}

function asJson(results: readonly Verified[], equal: boolean): object {
  const runs = results.find(isOfRuns)?.verification;
  return {
    equal,
    ...(runs && {
      runs: rowsOf(runs, 'agent_runs'),
      steps: rowsOf(runs, 'agent_steps'),
      position: runs.position,
    }),
    skipped: results.flatMap(({ skipped }) => skipped),
    tables: results.flatMap(({ verification }) => verification.tables),
    projections: results.map(({ entry, verification, skipped }) => ({
      projection: entry.projection.name,
      stream: entry.projection.stream,
      equal: isEqual(verification),
      ...verification,
      skipped,
    })),
  };
}

const isEqual = ({ tables }: Verification): boolean =>
  tables.every(({ missing, extra }) => missing === 0 && extra === 0);

const rowsOf = ({ tables }: Verification, name: string): number =>
  tables.find(({ table }) => table === name)?.rows ?? 0;

/** What differs, in lines for people: counts per table, then examples with the columns that differ. */
function differences({ tables }: Verification): string[] {
  return tables
    .filter(({ missing, extra }) => missing > 0 || extra > 0)
    .flatMap((table) => [
      `${table.table}: ${table.extra} live rows that the log does not give, ${table.missing} rows of the log that are not live`,
      ...examples(table),
    ]);
}

function examples({ samples }: TableComparison): string[] {
  const rebuilt = samples.missing as Row[];
  const live = samples.extra as Row[];
  const changed = live.flatMap((row) => {
    const other = rebuilt.find((candidate) => keyOf(candidate) === keyOf(row));
    return other
      ? changedColumns(row, other).map((line) => `  ${keyOf(row)}: ${line}`)
      : [`  ${keyOf(row)}: only live`];
  });
  const lost = rebuilt.filter((row) => !live.some((candidate) => keyOf(candidate) === keyOf(row)));
  return [...changed, ...lost.map((row) => `  ${keyOf(row)}: only in the log`)];
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
