import { subjectOf, userAggregate } from '@runyard/contracts';
import { belongings } from './belongings';
import type { Belongings } from './belongings';
import { dropDeadLetters } from './dead-content';
import { endRuns } from './end-runs';
import type { Eraser } from './erase';
import { eraseDocuments, withdrawFromKnowledge } from './erase-documents';
import { forgetFeed } from './erase-feed';
import { dropReplays } from './erase-replays';
import { eraseRules } from './erase-rules';
import { eraseRuns } from './erase-runs';
import { eraseTasks, requestsTaken } from './erase-tasks';
import type { Installation } from './installation';
import { forgetAnswers } from './kept-answers';
import { isUuid, operatorOf, orgOf } from './orgs';
import { Overwriting } from './overwriting';
import { everybodyRead } from './readers';
import { receiptOf, vacuum } from './receipt';
import { erasableChoice } from './run-choices';
import { rpcOf } from './service-calls';
import { CommandFailed } from './terminal';
import { unlessGone } from './unless-gone';
import { removeUnnamed } from './unnamed-blobs';

/**
 * Erases a person: each thing is deleted by its own event first, so that replay comes to the same rows, and then everything
 * but that event is overwritten. What others made keeps their id, which by then names nobody.
 */
export const erasePerson: Eraser = async (installation, userId, options, line, signal) => {
  const org = await orgOf(installation, options.org);
  const overwriting = await Overwriting.open(installation);
  try {
    await everybodyRead(installation, signal);
    const first = await belongings(installation, org, userId);
    await requireKnown(installation, org, userId, first);
    line.terminal.say(summaryOf(first));
    await eraseTasks(installation, overwriting, org, first.tasks, signal);
    await endRuns(installation, org, first.runs, signal);
    await deleteAll(installation, org, userId, first);
    await requestsTaken(installation, org, signal);
    await everybodyRead(installation, signal);
    // With what had begun meanwhile.
    const left = await belongings(installation, org, userId);
    await eraseTasks(installation, overwriting, org, left.tasks, signal);
    await endRuns(installation, org, left.runs, signal);
    await eraseRuns(installation, overwriting, org, erasableChoice.these(left.runs), signal);
    await overwrite(installation, overwriting, org, userId, left);
    await eraseRules(installation, overwriting, org, { userId, agents: first.agents }, signal);
    await forget(installation, overwriting, org, userId, first);
    await dropReplays(installation, overwriting);
    const gone = [...overwriting.texts, ...first.definitions];
    const texts = await removeUnnamed(installation.db, org, gone, overwriting.definitions);
    const tables = await vacuum(installation, options.rewrite);
    const what = { erased: `user ${userId}`, org, runs: left.runs.length, texts, tables };
    return await receiptOf(installation, what, overwriting);
  } finally {
    overwriting.close();
  }
};

/** A slip in an id must not end with a receipt. Who is gone already has left their last event. */
async function requireKnown(
  installation: Installation,
  org: string,
  userId: string,
  left: Belongings,
): Promise<void> {
  if (Object.values(left).some((ids: readonly string[]) => ids.length > 0)) return;
  const { log } = await installation.bus();
  const known = isUuid(userId) && (await log.lastSequence(subjectOf('people', org, userAggregate(userId))));
  if (!known) throw new CommandFailed(`There is no user ${userId} in org ${org}`);
}

const summaryOf = ({ runs, agents, conversations, keys, tasks, documents }: Belongings): string =>
  `${runs.length} runs, ${agents.length} agents, ${conversations.length} conversations, ${keys.length} keys, ${tasks.length} tasks, ${documents.length} documents`;

async function deleteAll(
  installation: Installation,
  org: string,
  userId: string,
  left: Belongings,
): Promise<void> {
  const call = await rpcOf(installation, operatorOf(org));
  for (const key of left.keys)
    await unlessGone(call('agent-registry', 'keys.revoke', { key_id: key.slice('key-'.length) }));
  for (const agent_id of left.agents)
    await unlessGone(call('agent-registry', 'agents.delete', { agent_id, history: 'purge' }));
  for (const conversation_id of left.conversations)
    await unlessGone(call('run-executor', 'conversations.delete', { conversation_id }));
  await withdrawFromKnowledge(installation, org, userId);
  await unlessGone(call('agent-registry', 'users.delete', { user_id: userId }));
}

async function overwrite(
  installation: Installation,
  overwriting: Overwriting,
  org: string,
  userId: string,
  { runs, agents, conversations, keys, documents }: Belongings,
): Promise<void> {
  await overwriting.emptied(org, runs);
  for (const id of agents) await overwriting.aggregate('AGENTS', subjectOf('agents', org, id), true);
  await forgetFeed(installation, org, agents);
  for (const id of conversations)
    await overwriting.aggregate('RUNS', subjectOf('conversations', org, id), true);
  for (const id of keys) await overwriting.aggregate('PEOPLE', subjectOf('people', org, id), true);
  await eraseDocuments(installation, overwriting, org, userId, documents);
  await overwriting.aggregate('PEOPLE', subjectOf('people', org, userAggregate(userId)), true);
}

/** What lies beside logs and projections. */
async function forget(
  installation: Installation,
  { done }: Overwriting,
  org: string,
  userId: string,
  { runs, agents, documents, tasks }: Belongings,
): Promise<void> {
  const requesters = [`user:${userId}`, ...tasks.map((task) => `system:${task}`)];
  done.deadLetters += await dropDeadLetters(installation, org, { runs, agents, requesters });
  const ofAgents = agents.map((id) => `"agent_id":${JSON.stringify(id)}`);
  const ids = [userId, ...ofAgents, ...documents.map((id) => id.slice('doc-'.length))];
  done.keptAnswers += await forgetAnswers(installation, org, ids);
}
