import { preview } from './erasable-runs';
import type { Installation } from './installation';
import { erasableChoice } from './run-choices';
import { CommandFailed, EXIT, table } from './terminal';
import type { Terminal } from './terminal';

/** What an org has said of how long it keeps runs; `before`: where that reaches to now, epoch ms. */
export interface RetentionSetting {
  org: string;
  days: number | null;
  before: number | null;
}

/** Settings of all orgs, by the clock of the database. */
export async function settingsOf({ db }: Installation): Promise<RetentionSetting[]> {
  const rows = await db.read((tx) =>
    tx.query<{ org_id: string; retention_days: number | null; before: number | null }>(
      `SELECT org_id, retention_days,
         round(extract(epoch FROM now() - retention_days * interval '1 day') * 1000)::float8 AS before
       FROM agent_registry.organizations ORDER BY org_id`,
    ),
  );
  return rows.map(({ org_id, retention_days, before }) => ({ org: org_id, days: retention_days, before }));
}

export const kept = (days: number | null): string =>
  days === null ? 'keeps its runs for ever' : `keeps its runs for ${days} days`;

/** Throws CommandFailed for what is no number of days. */
export function wholeDays(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new CommandFailed(`"${text}" is no number of days, nor "never"`);
  return Number(text);
}

export async function showSettings(installation: Installation, terminal: Terminal): Promise<number> {
  const rows: (string | number)[][] = [];
  for (const { org, days, before } of await settingsOf(installation))
    rows.push([org, kept(days), before === null ? 0 : await outlivedRuns(installation, org, before)]);
  for (const text of table(['org', 'says that it', 'older runs'], rows)) terminal.out(text);
  return EXIT.ok;
}

async function outlivedRuns({ db }: Installation, org: string, before: number): Promise<number> {
  const { states } = await db.read((tx) => preview(tx, org, erasableChoice.beganBefore(before)));
  return states.reduce((sum, { runs }) => sum + runs, 0);
}
