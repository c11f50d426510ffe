import { ORG_ID, subjectOf } from '@runyard/contracts';
import { VersionConflict } from '@runyard/event-log';
import { dropDeadLetters } from './dead-content';
import type { Eraser } from './erase';
import { endRuns } from './end-runs';
import { dropReplays } from './erase-replays';
import { requestsTaken } from './erase-tasks';
import type { Installation } from './installation';
import { operatorOf, orgOf } from './orgs';
import { Overwriting } from './overwriting';
import { everybodyRead } from './readers';
import { receiptOf, vacuum } from './receipt';
import { rpcOf } from './service-calls';
import { LOG_STREAMS } from './streams';
import { CommandFailed } from './terminal';

/** Kept without content: the org is gone for ever, and no key of a run of its can be used again. */
const KEPT = ['run_executor.erased_references', 'run_executor.run_keys'];

/**
 * Erases an org: nobody may start anything any more, what goes on is ended, the org's own tombstone is appended, and then
 * every other message of the org in every stream is overwritten and every row removed. A rebuild of any projection finds
 * nothing of it.
 */
export const eraseOrg: Eraser = async (installation, id, options, _line, signal) => {
  const org = await orgOf(installation, id);
  const overwriting = await Overwriting.open(installation);
  try {
    const { db } = installation;
    await requireKnown(installation, org);
    // What has no row yet would be left out of what is closed and ended.
    await everybodyRead(installation, signal);
    await closeAgents(installation, org);
    await requestsTaken(installation, org, signal);
    const runs = (
      await db.read((tx) =>
        tx.query<{ run_id: string }>('SELECT run_id FROM run_executor.agent_runs WHERE org_id = $1', [org]),
      )
    ).map(({ run_id }) => run_id);
    await endRuns(installation, org, runs, signal);
    await appendTombstone(installation, org);
    // Twice: what the first reading made reactions append lies in streams that were looked at before.
    await everybodyRead(installation, signal);
    await everybodyRead(installation, signal);
    await overwriteAll(installation, overwriting, org);
    overwriting.done.deadLetters += await dropDeadLetters(installation, org);
    await dropReplays(installation, overwriting);
    const texts = await removeRows(installation, org);
    const tables = await vacuum(installation, options.rewrite);
    return await receiptOf(
      installation,
      { erased: `org ${org}`, org, runs: runs.length, texts, tables },
      overwriting,
    );
  } finally {
    overwriting.close();
  }
};

/** A slip in an id must not end with a receipt. An org that is gone already has left its tombstone. */
async function requireKnown(installation: Installation, org: string): Promise<void> {
  const { log } = await installation.bus();
  if ((await log.lastSequence(subjectOf('people', org, ORG_ID))) === 0)
    throw new CommandFailed(`There is no org ${org}`);
}

/** A locked agent starts nothing, whoever asks. */
async function closeAgents(installation: Installation, org: string): Promise<void> {
  const call = await rpcOf(installation, operatorOf(org));
  const agents = await installation.db.read((tx) =>
    tx.query<{ agent_id: string }>('SELECT agent_id FROM agent_registry.agents WHERE org_id = $1', [org]),
  );
  for (const { agent_id } of agents)
    await call('agent-registry', 'agents.lock', { agent_id, reason: 'the org is erased' });
}

async function appendTombstone(installation: Installation, org: string): Promise<void> {
  const { log } = await installation.bus();
  const subject = subjectOf('people', org, ORG_ID);
  const meta = { actor: 'system:operator', source: 'cli' } as const;
  const events = [{ type: 'OrganizationErased', data: {} }];
  for (;;) {
    try {
      const expected = await log.lastSequence(subject);
      await log.append({ subject, expected, events, meta });
      return;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

/** Every aggregate of the org in every stream, by the archive, which everybody's reading has made complete. */
async function overwriteAll({ db }: Installation, overwriting: Overwriting, org: string): Promise<void> {
  const tombstone = subjectOf('people', org, ORG_ID);
  for (const stream of LOG_STREAMS) {
    const subjects = await db.read((tx) =>
      tx.query<{ subject: string }>(
        'SELECT DISTINCT subject FROM archive.event_log WHERE stream = $1 AND org_id = $2',
        [stream, org],
      ),
    );
    for (const { subject } of subjects) await overwriting.aggregate(stream, subject, subject === tombstone);
  }
}

/** Rows of the org in every schema of ours; tables that hold only ids for ever are left. */
async function removeRows({ db }: Installation, org: string): Promise<number> {
  const tables = await db.read((tx) =>
    tx.query<{ name: string }>(
      `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_attribute a
       JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE a.attname = 'org_id' AND NOT a.attisdropped AND n.nspname NOT IN ('pg_catalog', 'information_schema')
         AND n.nspname NOT LIKE 'replay\\_%' AND n.nspname || '.' || c.relname <> ALL($1) AND n.nspname || '.' || c.relname <> 'archive.event_log'
       ORDER BY 1`,
      [KEPT],
    ),
  );
  let texts = 0;
  await db.write(async (tx) => {
    for (const { name } of tables) {
      const removed = await tx.query(`DELETE FROM ${name} WHERE org_id = $1 RETURNING 1`, [org]);
      if (name === 'archive.blobs') texts = removed.length;
    }
    // Of people who were deleted before; their events are gone, and the org's own reference says enough.
    await tx.query(
      `DELETE FROM run_executor.erased_references WHERE org_id = $1 AND kind <> 'organization'`,
      [org],
    );
  });
  return texts;
}
