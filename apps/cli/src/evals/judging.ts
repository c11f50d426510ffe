import type { Runyard } from '@runyard/client';
import { Refused } from '@runyard/client';
import { faultsOf } from './faults';
import { observationOf } from './observation';
import type { Verdict } from './report';
import type { Case } from './suite';

/** Longest page of a trajectory. */
const PAGE = 1_000;

/**
 * Plays one case and judges it. What the API refuses (a locked agent, a run that is not there) is a fault of the case; no
 * answer at all is thrown.
 */
export async function judge(client: Runyard, one: Case, signal: AbortSignal): Promise<Verdict> {
  const began = performance.now();
  const verdict: Verdict = {
    name: one.name,
    passed: false,
    faults: [],
    run_id: 'run' in one ? one.run : null,
    agent_id: 'agent' in one ? one.agent : null,
    agent_version: null,
    steps: 0,
    tokens: 0,
    seconds: 0,
  };
  try {
    const runId = 'run' in one ? one.run : await started(client, one, signal);
    verdict.run_id = runId;
    const seen = await observed(client, runId, signal);
    verdict.faults = faultsOf(one.expect, seen);
    verdict.agent_id = seen.agentId;
    verdict.agent_version = seen.agentVersion;
    verdict.steps = seen.steps;
    verdict.tokens = seen.tokens;
  } catch (failure) {
    if (!(failure instanceof Refused)) throw failure;
    verdict.faults = [failure.message];
  }
  verdict.passed = verdict.faults.length === 0;
  verdict.seconds = (performance.now() - began) / 1_000;
  return verdict;
}

async function started(
  client: Runyard,
  { agent, input, bounds, mode }: Extract<Case, { agent: string }>,
  signal: AbortSignal,
): Promise<string> {
  const body = {
    agent_id: agent,
    input,
    purpose: 'eval' as const,
    ...(bounds && { bounds }),
    ...(mode && { mode }),
  };
  return (await client.runs.start(body, { signal })).run_id;
}

async function observed(client: Runyard, runId: string, signal: AbortSignal) {
  const run = await client.runs.ended(runId, { signal });
  const entries: Record<string, unknown>[] = [];
  for (let after: number | undefined; ;) {
    const query = { limit: PAGE, ...(after === undefined ? {} : { after }) };
    const page = await client.runs.trajectory(runId, query, { signal });
    entries.push(...page.entries);
    if (page.next_after === null) return observationOf(run, entries);
    after = page.next_after;
  }
}
