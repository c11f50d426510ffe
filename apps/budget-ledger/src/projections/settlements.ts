import type { BudgetSettled } from '@runyard/contracts';
import type { Tx } from '@runyard/persistence';

export interface RecordedSettlement {
  org_id: string;
  owner_id: string;
  week: string;
  data: BudgetSettled['data'];
  position: string;
}

/** Inserts settlements and their lines; one that is there already stays as it is. */
export async function insertSettlements(tx: Tx, settled: readonly RecordedSettlement[]): Promise<void> {
  if (settled.length === 0) return;
  const rows = settled.map(({ data, ...place }) => ({
    ...place,
    run_id: data.runId,
    day: data.day,
    agent_id: data.agentId,
    tokens: data.tokens,
    own_tokens: data.own,
    child_tokens: data.children,
    reserved: data.reserved,
    ended_at: new Date(data.endedAt).toISOString(),
  }));
  await insert(tx, 'settlements', rows);
  await insert(tx, 'spend_lines', settled.flatMap(linesOf));
}

const linesOf = ({ data, position: _position, ...place }: RecordedSettlement): object[] =>
  data.lines.map((line, index) => ({
    ...place,
    root_run_id: data.runId,
    line: index,
    run_id: line.runId,
    day: data.day,
    ended_at: new Date(data.endedAt).toISOString(),
    agent_id: line.agentId,
    model_id: line.modelId,
    model: line.model,
    provider: line.provider,
    tier: line.tier,
    calls: line.calls,
    input_tokens: line.input,
    output_tokens: line.output,
    cached_tokens: line.cached,
    estimated_tokens: line.estimated,
  }));

async function insert(tx: Tx, table: string, rows: readonly object[]): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const columns = Object.keys(first).join(', ');
  await tx.query(
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)
     ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows)],
  );
}
