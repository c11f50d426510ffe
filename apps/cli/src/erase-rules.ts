import { NO_POLICY, PERMISSION_EVENTS, RULES_ID, evolvePolicy, subjectOf } from '@runyard/contracts';
import type { PermissionEvent, PermissionRule } from '@runyard/contracts';
import { VersionConflict, decodeEvents } from '@runyard/event-log';
import type { Commit } from '@runyard/event-log';
import type { Installation } from './installation';
import { forgetAnswers } from './kept-answers';
import type { Overwriting } from './overwriting';
import { readersReach } from './readers';

interface Found {
  ruleIds: string[];
  sequences: number[];
  version: number;
  last: number;
}

/**
 * Erases permission rules about a person and their agents, standing and removed ones: conditions may repeat what their
 * calls were about. One aggregate holds all rules of the org, so only the commits that added these are overwritten, and the
 * erasure says at which version the policy goes on.
 */
export async function eraseRules(
  installation: Installation,
  overwriting: Overwriting,
  org: string,
  person: { userId: string; agents: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const { log } = await installation.bus();
  const subject = subjectOf('permissions', org, RULES_ID);
  const meta = { actor: 'system:operator', source: 'cli' } as const;
  for (;;) {
    const { ruleIds, sequences, version, last } = find(await log.read(subject), person);
    if (ruleIds.length === 0) return;
    const events = [{ type: 'RulesErased', data: { ruleIds, version: version + 1 } }];
    try {
      const { sequence } = await log.append({ subject, expected: last, events, meta });
      await readersReach(installation, 'APPROVALS', sequence, signal);
      await overwriting.commits('APPROVALS', subject, sequences);
      overwriting.done.rules += ruleIds.length;
      overwriting.done.keptAnswers += await forgetAnswers(installation, org, ruleIds);
      return;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

function find(commits: readonly Commit[], person: { userId: string; agents: readonly string[] }): Found {
  const found: Found = { ruleIds: [], sequences: [], version: 0, last: 0 };
  let policy = NO_POLICY;
  for (const commit of commits) {
    for (const event of decodeEvents(commit, PERMISSION_EVENTS).events as PermissionEvent[]) {
      policy = evolvePolicy(policy, event);
      if (event.type !== 'RuleAdded' || !isAbout(event.data.rule, person)) continue;
      found.ruleIds.push(event.data.rule.ruleId);
      found.sequences.push(commit.sequence);
    }
    found.last = commit.sequence;
  }
  return { ...found, version: policy.version };
}

const isAbout = (
  { scope }: PermissionRule,
  { userId, agents }: { userId: string; agents: readonly string[] },
): boolean =>
  (scope.kind === 'owner' && scope.ownerId === userId) ||
  (scope.kind === 'agent' && agents.includes(scope.agentId));
