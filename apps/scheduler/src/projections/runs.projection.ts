import { RUN_EVENTS, parseSubject } from '@runyard/contracts';
import type { RunEvent } from '@runyard/contracts';
import { eventsOf, isOrg, mayHold } from '@runyard/persistence';
import type { Projection } from '@runyard/persistence';

/** A slot that waits may wait a moment longer; steps of runs come by the thousand and concern nobody here. */
const GATHER_MS = 200;

const ENDS: ReadonlySet<string> = new Set(['RunSucceeded', 'RunFailed', 'RunCancelled', 'RunDeleted']);

const CONCERNING = ['RunQueued', ...ENDS];

/** Which runs hold the one place of their agent: a slot that waits goes on when they have ended (P7.1). */
export const UNFINISHED_RUNS: Projection = {
  name: 'scheduler-runs',
  version: 1,
  stream: 'RUNS',
  gatherMs: GATHER_MS,
  concerns: (commit) => mayHold(commit, CONCERNING),
  async apply(tx, commits) {
    const begun = new Map<string, { org: string; agentId: string }>();
    const ended = new Set<string>();
    for (const commit of commits) {
      const place = parseSubject(commit.subject);
      if (place?.context !== 'runs' || !isOrg(place.org)) continue;
      for (const { event } of eventsOf<RunEvent>(commit, RUN_EVENTS)) {
        if (event.type === 'RunQueued' && event.data.slot !== null)
          begun.set(place.id, { org: place.org, agentId: event.data.agentId });
        if (ENDS.has(event.type)) ended.add(place.id);
      }
    }
    const left = [...begun].filter(([runId]) => !ended.has(runId));
    if (left.length)
      await tx.query(
        `INSERT INTO unfinished_runs (run_id, org_id, agent_id) SELECT * FROM unnest($1::text[], $2::uuid[], $3::text[]) ON CONFLICT DO NOTHING`,
        [
          left.map(([runId]) => runId),
          left.map(([, { org }]) => org),
          left.map(([, { agentId }]) => agentId),
        ],
      );
    if (ended.size) await tx.query('DELETE FROM unfinished_runs WHERE run_id = ANY ($1)', [[...ended]]);
  },
};
