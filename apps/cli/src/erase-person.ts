import { keyAggregate, Problem, subjectOf, userAggregate } from '@runyard/contracts';
import type { LogStream } from '@runyard/contracts';
import { dropDeadLetters } from './dead-content';
import type { Eraser } from './erase';
import { eraseRuns } from './erase-runs';
import { endRuns } from './end-runs';
import type { Installation } from './installation';
import { operatorOf, orgOf } from './orgs';
import { Overwriting } from './overwriting';
import { readersReach } from './readers';
import { receiptOf, vacuum } from './receipt';
import { OF_PERSON, erasableChoice } from './run-choices';
import { rpcOf } from './service-calls';
import { removeUnnamed } from './unnamed-blobs';

/** What a person left, by id. */
interface Belongings {
  runs: string[];
  agents: string[];
  conversations: string[];
  keys: string[];
  /** Of runs of their own agents: nothing can name them again. */
  definitions: string[];
}

/**
 * Erases a person: each thing is deleted by its own event first, so that replay comes to the same rows, and then everything
 * but that event is overwritten.
 */
export const erasePerson: Eraser = async (installation, userId, options, line, signal) => {
  const org = await orgOf(installation, options.org);
  const overwriting = await Overwriting.open(installation);
  try {
    const left = await belongings(installation, org, userId);
    line.terminal.say(
      `${left.runs.length} runs, ${left.agents.length} agents, ${left.conversations.length} conversations, ${left.keys.length} keys`,
    );
    await endRuns(installation, org, left.runs, signal);
    await deleteAll(installation, org, userId, left);
    await everybodyRead(installation, signal);
    await eraseRuns(installation, overwriting, org, erasableChoice.these(left.runs), signal);
    await overwriting.emptied(org, left.runs);
    await overwrite(overwriting, org, userId, left);
    await dropDeadLetters(installation, org, new Set(left.runs));
    await forgetAnswers(installation, org, userId);
    const gone = [...overwriting.texts, ...left.definitions];
    const texts = await removeUnnamed(installation.db, org, gone, overwriting.definitions);
    const tables = await vacuum(installation, options.rewrite);
    const what = { erased: `user ${userId}`, org, runs: left.runs.length, texts, tables };
    return await receiptOf(installation, what, overwriting);
  } finally {
    overwriting.close();
  }
};

async function belongings({ db }: Installation, org: string, userId: string): Promise<Belongings> {
  const ids = async (sql: string): Promise<string[]> =>
    (await db.read((tx) => tx.query<{ id: string }>(sql, [org, userId]))).map(({ id }) => id);
  return {
    runs: await ids(
      `SELECT a.run_id AS id FROM run_executor.agent_runs a WHERE a.org_id = $1 AND ${OF_PERSON}`,
    ),
    agents: await ids(
      `SELECT agent_id AS id FROM agent_registry.agents WHERE org_id = $1 AND owner_id::text = $2
       UNION SELECT agent_id FROM agent_registry.agent_versions WHERE org_id = $1 AND owner_id::text = $2`,
    ),
    conversations: await ids(
      'SELECT conversation_id AS id FROM run_executor.conversations WHERE org_id = $1 AND user_id::text = $2',
    ),
    definitions: await ids(
      `SELECT DISTINCT definition AS id FROM run_executor.agent_runs
       WHERE org_id = $1 AND owner_id = $2 AND definition IS NOT NULL`,
    ),
    keys: await ids(
      'SELECT key_id AS id FROM agent_registry.api_keys WHERE org_id = $1 AND user_id::text = $2',
    ),
  };
}

async function deleteAll(
  installation: Installation,
  org: string,
  userId: string,
  left: Belongings,
): Promise<void> {
  const call = await rpcOf(installation, operatorOf(org));
  for (const key_id of left.keys) await unlessGone(call('agent-registry', 'keys.revoke', { key_id }));
  for (const agent_id of left.agents)
    await unlessGone(call('agent-registry', 'agents.delete', { agent_id, history: 'purge' }));
  for (const conversation_id of left.conversations)
    await unlessGone(call('run-executor', 'conversations.delete', { conversation_id }));
  await unlessGone(call('agent-registry', 'users.delete', { user_id: userId }));
}

/** What is not there any more was deleted by an earlier attempt. */
async function unlessGone(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'not_found')) throw error;
  }
}

/** Answers that the door keeps for repeated requests: those to the person, and those that show them. */
async function forgetAnswers({ db }: Installation, org: string, userId: string): Promise<void> {
  await db.write((tx) =>
    tx.query(`DELETE FROM gateway.idempotency_keys k WHERE org_id = $1 AND strpos(k::text, $2) > 0`, [
      org,
      userId,
    ]),
  );
}

async function everybodyRead(installation: Installation, signal: AbortSignal): Promise<void> {
  const { log } = await installation.bus();
  for (const stream of ['PEOPLE', 'AGENTS', 'RUNS'] as LogStream[])
    await readersReach(installation, stream, (await log.state(stream)).lastSequence, signal);
}

async function overwrite(
  overwriting: Overwriting,
  org: string,
  userId: string,
  { agents, conversations, keys }: Belongings,
): Promise<void> {
  for (const id of agents) await overwriting.aggregate('AGENTS', subjectOf('agents', org, id), true);
  for (const id of conversations)
    await overwriting.aggregate('RUNS', subjectOf('conversations', org, id), true);
  for (const id of keys)
    await overwriting.aggregate('PEOPLE', subjectOf('people', org, keyAggregate(id)), true);
  await overwriting.aggregate('PEOPLE', subjectOf('people', org, userAggregate(userId)), true);
}
