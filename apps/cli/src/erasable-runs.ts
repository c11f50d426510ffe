import type { RunErased } from '@runyard/contracts';
import type { Tx } from '@runyard/persistence';

type Erasure = RunErased['data'];

/** Which runs of an org: a condition on `agent_runs a` with its parameters from $2 on. */
export interface Choice {
  rows: string;
  /** The same for runs that were deleted already and whose content still lies in the log: on `deleted_runs d`. */
  tombstones: string;
  params: readonly unknown[];
}

interface Row {
  run_id: string;
  agent_id: string;
  state: Erasure['state'];
  ended_at: number | null;
  input_tokens: string;
  output_tokens: string;
  cached_tokens: string;
  digest: string | null;
  previous_run_id: string | null;
  deleted_sequence: string | null;
  deleted_at: number | null;
  conversation_id: string | null;
  conversation_user: string | null;
  conversation_at: number | null;
}

export const ENDED = `('succeeded', 'failed', 'cancelled', 'skipped')`;
const ms = (column: string): string => `round(extract(epoch FROM ${column}) * 1000)::float8`;

const SELECT = ({ rows, tombstones }: Choice, limit: number): string => `
  SELECT a.run_id, a.agent_id, a.state, ${ms('a.ended_at')} AS ended_at, a.input_tokens, a.output_tokens, a.cached_tokens,
    k.digest, a.previous_run_id, NULL::bigint AS deleted_sequence, NULL::float8 AS deleted_at,
    c.conversation_id, c.user_id AS conversation_user, ${ms('c.created_at')} AS conversation_at
  FROM run_executor.agent_runs a
  LEFT JOIN run_executor.run_keys k ON k.run_id = a.run_id
  LEFT JOIN run_executor.conversations c ON c.org_id = a.org_id AND c.conversation_id = a.conversation_id
  WHERE a.org_id = $1 AND a.state IN ${ENDED} AND (${rows})
  UNION ALL
  SELECT d.run_id, d.agent_id, d.state, ${ms('d.ended_at')}, d.input_tokens, d.output_tokens, d.cached_tokens,
    k.digest, NULL, d.sequence, ${ms('d.deleted_at')}, NULL, NULL, NULL
  FROM run_executor.deleted_runs d LEFT JOIN run_executor.run_keys k ON k.run_id = d.run_id
  WHERE d.org_id = $1 AND d.erased_at IS NULL AND (${tombstones})
  ORDER BY 1 LIMIT ${limit}`;

/** Ended runs that a choice takes, with what must be remembered of them. */
export async function erasableRuns(tx: Tx, org: string, choice: Choice, limit: number): Promise<Erasure[]> {
  const rows = await tx.query<Row>(SELECT(choice, limit), [org, ...choice.params]);
  return rows.map(erasureOf);
}

const erasureOf = (row: Row): Erasure => ({
  runId: row.run_id,
  agentId: row.agent_id,
  state: row.state,
  endedAt: row.ended_at,
  inputTokens: Number(row.input_tokens),
  outputTokens: Number(row.output_tokens),
  cachedTokens: Number(row.cached_tokens),
  requestDigest: row.digest,
  previousRunId: row.previous_run_id,
  deletion:
    row.deleted_sequence === null
      ? null
      : { sequence: Number(row.deleted_sequence), time: row.deleted_at ?? 0 },
  conversation:
    row.conversation_id === null
      ? null
      : {
          conversationId: row.conversation_id,
          userId: row.conversation_user,
          createdAt: row.conversation_at ?? 0,
        },
});

/** How many runs a choice takes by state, and how many it leaves because they have not ended. */
export async function preview(
  tx: Tx,
  org: string,
  choice: Choice,
): Promise<{ states: { state: string; runs: number }[]; unfinished: number }> {
  const states = await tx.query<{ state: string; runs: string }>(
    `SELECT state, count(*) AS runs FROM (
       SELECT a.state FROM run_executor.agent_runs a WHERE a.org_id = $1 AND a.state IN ${ENDED} AND (${choice.rows})
       UNION ALL
       SELECT 'deleted' FROM run_executor.deleted_runs d WHERE d.org_id = $1 AND d.erased_at IS NULL AND (${choice.tombstones})
     ) chosen GROUP BY state ORDER BY state`,
    [org, ...choice.params],
  );
  const [open] = await tx.query<{ runs: string }>(
    `SELECT count(*) AS runs FROM run_executor.agent_runs a WHERE a.org_id = $1 AND a.state NOT IN ${ENDED} AND (${choice.rows})`,
    [org, ...choice.params],
  );
  return {
    states: states.map(({ state, runs }) => ({ state, runs: Number(runs) })),
    unfinished: Number(open?.runs ?? 0),
  };
}
