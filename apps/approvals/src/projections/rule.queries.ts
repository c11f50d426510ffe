import type { RuleRow } from '@runyard/contracts';
import { decodeCursor, pageOf, restoreJson, restoreText } from '@runyard/persistence';
import type { Json } from '@runyard/contracts';
import type { Database, Page } from '@runyard/persistence';

export type { Page };

export interface RuleFilter {
  agent_id?: string;
  owner_id?: string;
  decision?: string;
  /** A tool that the rule's pattern must match. */
  tool?: string;
  limit: number;
  cursor?: string;
}

const iso = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${column}`;
const SCOPE = `jsonb_strip_nulls(jsonb_build_object('kind', scope, 'owner_id', owner_id, 'agent_id', agent_id)) AS scope`;
const COLUMNS = `rule_id, ${SCOPE}, tool, conditions, decision, group_key, ${iso('expires_at')}, note, approval_id, author,
  ${iso('created_at')}, position`;

/** A rule, and whether it still stands. */
export type KnownRule = RuleRow & { removed_at: string | null; removed_by: string | null };

/** Permission rules of an org; everybody of it may read what binds them. */
export class RuleQueries {
  constructor(private readonly db: Database) {}

  /** Standing rules, newest first. */
  async list(org: string, filter: RuleFilter): Promise<Page<RuleRow>> {
    const parameters: unknown[] = [];
    const where = ['removed_at IS NULL'];
    const equal = (condition: string, value: unknown) => {
      if (value !== undefined) where.push(condition.replace('?', `$${parameters.push(value)}`));
    };
    equal('agent_id = ?', filter.agent_id);
    equal('owner_id = ?::uuid', filter.owner_id);
    equal('decision = ?', filter.decision);
    // A pattern's only wildcard is "*", and tool names hold nothing that LIKE would read, but for "_".
    equal(`?::text LIKE replace(replace(tool, '_', '\\_'), '*', '%')`, filter.tool);
    const place = decodeCursor(filter.cursor, ['time', 'text']);
    if (place) {
      const [at, id] = place.map((value) => `$${parameters.push(value)}`);
      where.push(
        `(created_at < ${at}::timestamptz OR (created_at = ${at}::timestamptz AND rule_id > ${id}))`,
      );
    }
    const rows = await this.db.inOrg(org, (tx) =>
      tx.query<RuleRow>(
        `SELECT ${COLUMNS} FROM permission_rules WHERE ${where.join(' AND ')}
         ORDER BY permission_rules.created_at DESC, rule_id LIMIT ${filter.limit + 1}`,
        parameters,
      ),
    );
    return pageOf(rows.map(restored), filter.limit, (row) => [row.created_at, row.rule_id]);
  }

  /** A rule, removed ones too: what they decided still names them. */
  async find(org: string, ruleId: string): Promise<KnownRule | undefined> {
    const [row] = await this.db.inOrg(org, (tx) =>
      tx.query<KnownRule>(
        `SELECT ${COLUMNS}, ${iso('removed_at')}, removed_by FROM permission_rules WHERE rule_id = $1`,
        [ruleId],
      ),
    );
    return row && restored(row);
  }
}

function restored<Row extends RuleRow>(row: Row): Row {
  const text = (value: string | null) => (value === null ? null : restoreText(value));
  return {
    ...row,
    conditions: restoreJson(row.conditions as Json) as RuleRow['conditions'],
    group_key: text(row.group_key),
    note: text(row.note),
  };
}
