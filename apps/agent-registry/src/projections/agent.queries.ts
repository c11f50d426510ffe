import { startConditions } from '@runyard/contracts';
import type { AgentRow, AgentVersionRow } from '@runyard/contracts';
import type { Page, Tx } from '@runyard/persistence';
import type { AgentRecord, VersionRecord } from './agent-records';
import { decodeCursor, pageOf } from '@runyard/persistence';

type Read<R, Times extends keyof R> = Omit<R, Times> & Record<Times, Date>;
type AgentRead = Read<AgentRecord, 'created_at' | 'updated_at'> & {
  tools: string[];
  owner_active: boolean;
};

const AGENT = `
  SELECT a.*, u.active AS owner_active,
    ARRAY(SELECT t.tool FROM agent_tools t WHERE t.org_id = a.org_id AND t.agent_id = a.agent_id ORDER BY t.place) AS tools
  FROM agents a JOIN users u ON u.org_id = a.org_id AND u.user_id = a.owner_id`;

export async function findAgent(tx: Tx, agentId: string): Promise<AgentRow | null> {
  const [row] = await tx.query<AgentRead>(`${AGENT} WHERE a.agent_id = $1`, [agentId]);
  return row ? agentRow(row) : null;
}

export interface AgentFilter {
  limit: number;
  cursor?: string;
  owner_id?: string;
  model_id?: string;
  enabled?: boolean;
  admin_paused?: boolean;
  search?: string;
}

/** Agents by name, then id. Filters that are given hold together. */
export async function listAgents(tx: Tx, filter: AgentFilter): Promise<Page<AgentRow>> {
  const [name, id] = decodeCursor(filter.cursor, ['text', 'text']) ?? [null, null];
  const rows = await tx.query<AgentRead>(
    `${AGENT}
     WHERE ($1::uuid IS NULL OR a.owner_id = $1) AND ($2::text IS NULL OR a.model_id = $2)
       AND ($3::boolean IS NULL OR a.enabled = $3) AND ($4::boolean IS NULL OR a.admin_paused = $4)
       AND ($5::text IS NULL OR a.name ILIKE $5 OR a.agent_id ILIKE $5)
       AND ($6::text IS NULL OR (a.name, a.agent_id) > ($6, $7))
     ORDER BY a.name, a.agent_id LIMIT $8`,
    [
      filter.owner_id ?? null,
      filter.model_id ?? null,
      filter.enabled ?? null,
      filter.admin_paused ?? null,
      filter.search === undefined ? null : `%${filter.search.replaceAll(/[\\%_]/g, '\\$&')}%`,
      name,
      id,
      filter.limit + 1,
    ],
  );
  return pageOf(rows.map(agentRow), filter.limit, (row) => [row.name, row.agent_id]);
}

/** Whose a slug is, or was when its history is kept; null for a slug that nobody used. */
export async function ownerOfSlug(tx: Tx, agentId: string): Promise<string | null> {
  const [row] = await tx.query<{ owner_id: string }>(
    'SELECT owner_id FROM agent_versions WHERE agent_id = $1 ORDER BY agent_version DESC LIMIT 1',
    [agentId],
  );
  return row?.owner_id ?? null;
}

/** Versions, newest first, also of a deleted agent whose history is kept. */
export async function listVersions(
  tx: Tx,
  agentId: string,
  page: { limit: number; cursor?: string },
): Promise<Page<AgentVersionRow>> {
  const [before] = decodeCursor(page.cursor, ['integer']) ?? [null];
  const rows = await tx.query<Read<VersionRecord, 'created_at'>>(
    'SELECT * FROM agent_versions WHERE agent_id = $1 AND ($2::int IS NULL OR agent_version < $2) ORDER BY agent_version DESC LIMIT $3',
    [agentId, before, page.limit + 1],
  );
  return pageOf(rows.map(versionRow), page.limit, (row) => [row.agent_version]);
}

export async function findVersion(tx: Tx, agentId: string, version: number): Promise<AgentVersionRow | null> {
  const [row] = await tx.query<Read<VersionRecord, 'created_at'>>(
    'SELECT * FROM agent_versions WHERE agent_id = $1 AND agent_version = $2',
    [agentId, version],
  );
  return row ? versionRow(row) : null;
}

/** For reactions, across orgs: agents of an org that a change concerns. */
export async function agentsWithModel(tx: Tx, org: string, modelId: string): Promise<string[]> {
  return ids(
    await tx.query('SELECT agent_id FROM agents WHERE org_id = $1 AND model_id = $2 ORDER BY 1', [
      org,
      modelId,
    ]),
  );
}
export async function agentsWithTool(tx: Tx, org: string, tool: string): Promise<string[]> {
  return ids(
    await tx.query('SELECT agent_id FROM agent_tools WHERE org_id = $1 AND tool = $2 ORDER BY 1', [
      org,
      tool,
    ]),
  );
}

/** From the versions, since the row of an agent goes with its owner's row, before the reaction has come to it. */
export async function agentsEverOwnedBy(tx: Tx, org: string, ownerId: string): Promise<string[]> {
  return ids(
    await tx.query(
      'SELECT DISTINCT agent_id FROM agent_versions WHERE org_id = $1 AND owner_id = $2 ORDER BY 1',
      [org, ownerId],
    ),
  );
}

const ids = (rows: Record<string, unknown>[]): string[] => rows.map((row) => String(row.agent_id));

function agentRow(row: AgentRead): AgentRow {
  const facts = {
    enabled: row.enabled,
    enabledReason: row.enabled_reason,
    locked: row.admin_paused,
    lockedReason: row.admin_paused_reason,
  };
  const { org_id: _org, revision, owner_active: ownerActive, ...shown } = row;
  return {
    ...shown,
    approval_policy: row.approval_policy as AgentRow['approval_policy'],
    mode: row.mode as AgentRow['mode'],
    concurrency: row.concurrency as AgentRow['concurrency'],
    overlap: row.overlap as AgentRow['overlap'],
    meta: row.meta as AgentRow['meta'],
    catch_up: row.catch_up as AgentRow['catch_up'],
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    etag: `${row.agent_version}.${revision}`,
    start_conditions: startConditions({ ...facts, modelId: row.model_id, ownerActive }),
  };
}

function versionRow(row: Read<VersionRecord, 'created_at'>): AgentVersionRow {
  const { org_id: _org, owner_id: _owner, ...shown } = row;
  return {
    ...shown,
    approval_policy: row.approval_policy as AgentVersionRow['approval_policy'],
    mode: row.mode as AgentVersionRow['mode'],
    created_at: row.created_at.toISOString(),
  };
}
