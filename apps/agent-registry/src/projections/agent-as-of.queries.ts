import { Problem } from '@runyard/contracts';
import type { AgentRow } from '@runyard/contracts';
import { rowsAsOf } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import { findAgent } from './agent.queries';
import { CATALOGUE_PROJECTION } from './catalogue.projection';

/** What an agent's events write. Whether its owner is active is told as of now. */
const TABLES = ['agents', 'agent_tools', 'agent_versions'];

/** An agent as it was. Throws `not_found` where it was not there then. */
export function agentAsOf(db: Database, org: string, id: string, asOf: string): Promise<AgentRow> {
  const past = {
    org,
    context: 'agents',
    ids: [id],
    named: id,
    asOf,
    projection: CATALOGUE_PROJECTION,
    tables: TABLES,
  } as const;
  return rowsAsOf(db, past, async (tx) => {
    const row = await findAgent(tx, id);
    if (!row) throw new Problem('not_found', `There was no agent ${id} as of ${asOf}`);
    return row;
  });
}
