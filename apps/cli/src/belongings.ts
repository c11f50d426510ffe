import type { Installation } from './installation';
import { idsWith, runsOfTasks } from './named-ids';
import { OF_PERSON } from './run-choices';

/** What a person left, by id; what they deleted themselves too, for its log still holds it. */
export interface Belongings {
  runs: string[];
  agents: string[];
  conversations: string[];
  /** Aggregates of the people's log, `key-…`. */
  keys: string[];
  /** Theirs, and those that their agents worked on: what these read, they read in the person's name. */
  tasks: string[];
  /** Aggregates of the knowledge's log, `doc-…`. */
  documents: string[];
  /** Of runs of their own agents: nothing can name them again. */
  definitions: string[];
}

/** Reads archive and rows; everybody must have read the streams. */
export async function belongings({ db }: Installation, org: string, userId: string): Promise<Belongings> {
  const rows = async (sql: string): Promise<string[]> =>
    (await db.read((tx) => tx.query<{ id: string }>(sql, [org, userId]))).map(({ id }) => id);
  const [user, owner] = [`"userId":"${userId}"`, `"ownerId":"${userId}"`];
  const known = await rows(
    `SELECT a.run_id AS id FROM run_executor.agent_runs a WHERE a.org_id = $1 AND ${OF_PERSON}`,
  );
  const logged = await idsWith(db, org, 'runs', [user, owner, `"requestedBy":"user:${userId}"`]);
  const own = [...new Set([...known, ...logged])];
  const workedFor = (await runsOfTasks(db, org, { runs: own })).map(({ task }) => task);
  const tasks = [...new Set([...(await idsWith(db, org, 'tasks', [user])), ...workedFor])];
  const ofTasks = await runsOfTasks(db, org, { tasks });
  return {
    runs: [...new Set([...own, ...ofTasks.map(({ run }) => run)])],
    agents: await idsWith(db, org, 'agents', [owner]),
    conversations: await idsWith(db, org, 'conversations', [user]),
    keys: (await idsWith(db, org, 'people', [user])).filter((id) => id.startsWith('key-')),
    tasks,
    documents: await idsWith(db, org, 'knowledge', [owner]),
    definitions: await rows(
      `SELECT DISTINCT definition AS id FROM run_executor.agent_runs
       WHERE org_id = $1 AND owner_id = $2 AND definition IS NOT NULL`,
    ),
  };
}
