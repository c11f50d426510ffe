import { z } from 'zod';
import { rowId } from '../agents/agent.requests';
import type { ToolSource } from '../runs/run.definition';
import type { RegisterToolInput } from './catalogue.requests';

/** Delegation: a call is a run of that agent. `token_budget`: what one call may spend at most. */
export const agentSourceSchema = z.strictObject({
  kind: z.literal('agent'),
  agent_id: rowId('agent id'),
  token_budget: z
    .int('must be a whole number')
    .min(1, 'must be at least 1 token')
    .max(100_000_000)
    .optional(),
});

/** A row of the catalogue as `tools.list` answers it. */
export type ToolRow = RegisterToolInput;

type SourceRow = RegisterToolInput['source'];

/** A tool's source in the words of requests and rows. */
export function toolSourceRow(source: ToolSource): SourceRow {
  if (source.kind !== 'agent') return source as SourceRow;
  const { kind, agentId, tokenBudget } = source;
  return { kind, agent_id: agentId, ...(tokenBudget === undefined ? {} : { token_budget: tokenBudget }) };
}

/** The inverse of {@link toolSourceRow}: as events and definitions carry it. */
export function toolSourceOf(row: SourceRow): ToolSource {
  if (row.kind !== 'agent') return row;
  const { kind, agent_id: agentId, token_budget: tokenBudget } = row;
  return { kind, agentId, ...(tokenBudget === undefined ? {} : { tokenBudget }) };
}
