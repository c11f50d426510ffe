import type { Caller, RunState, Termination, Trigger } from '@runyard/contracts';
import { Problem } from '@runyard/contracts';
import { positionReached } from '@runyard/persistence';
import type { Database, Tx } from '@runyard/persistence';
import { conversationOf, conversationPage } from './conversation-views';
import type { ConversationFilter } from './conversation-views';
import { cursorOf, limitOf, placeOf } from './cursor';
import { entriesPage, stepsPage } from './run-pages';
import type { PageOf } from './run-pages';
import { descendants, MAX_TREE, totalsOf } from './run-trees';
import { runAsOf } from './run-as-of.queries';
import { answer, BEGUN, BEGUN_MS, FROM_RUNS, LISTED, WHOLE } from './run-views';
import type { Answer } from './run-views';
import { Parameters, visibleTo } from './visibility';

/** How long a read waits for the position that it asks for. */
const POSITION_WITHIN_MS = 2_000;
const RUNS = { name: 'runs', version: 1, stream: 'RUNS' };

/** Filters of the list of runs; all that are given must hold. */
export interface RunFilter {
  agent_id?: string;
  state?: RunState;
  /** In the dialog runner's words. */
  status?: string;
  termination?: Termination;
  parent_run_id?: string;
  /** Runs that begin with this one: its forks, continuations and retries. */
  source_run_id?: string;
  /** Runs that a bulk action was about. */
  bulk_action_id?: string;
  conversation_id?: string;
  trigger?: Trigger;
  user_id?: string;
  /** RFC 3339, inclusive: when the run began, or was queued where it has not begun. */
  from?: string;
  /** RFC 3339, exclusive. */
  to?: string;
  limit?: number;
  cursor?: string;
  at_least?: string;
}

export interface RunRead {
  run_id: string;
  at_least?: string;
}

/** `after`: the `next_after` of the page before. */
export interface PartRead extends RunRead {
  after?: number;
  limit?: number;
}

export interface Page {
  data: Answer[];
  next_cursor: string | null;
}

const EQUALS = [
  'agent_id',
  'state',
  'status',
  'termination',
  'parent_run_id',
  'source_run_id',
  'conversation_id',
  'trigger',
] as const;

/**
 * Reads of runs and conversations, each as its caller may see them: rows of other orgs are not there at all (`not_found`),
 * other people's rows of the same org are `forbidden`.
 */
export class RunQueries {
  constructor(private readonly db: Database) {}

  /** Newest first. */
  async list(caller: Caller, filter: RunFilter): Promise<Page> {
    const limit = limitOf(filter.limit);
    const parameters = new Parameters();
    const where = conditions(caller, filter, parameters);
    const rows = await this.read(caller, filter.at_least, (tx) =>
      tx.query(
        `SELECT ${LISTED}, ${BEGUN_MS} AS begun FROM ${FROM_RUNS} WHERE ${where}
         ORDER BY ${BEGUN} DESC, a.run_id DESC LIMIT ${limit + 1}`,
        parameters.values,
      ),
    );
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      data: page.map(({ begun: _begun, ...row }) => answer(row)),
      next_cursor: last ? cursorOf({ at: Number(last.begun), id: String(last.run_id) }) : null,
    };
  }

  /** With `as_of` as it was then; whoever may not see it now may not see what it was. */
  async get(caller: Caller, { run_id, at_least, as_of }: RunRead & { as_of?: string }): Promise<Answer> {
    const now = await this.read(caller, at_least, (tx) => this.visible(tx, caller, run_id));
    return as_of === undefined ? now : runAsOf(this.db, caller.org, run_id, as_of);
  }

  /** Model turns, tool calls and decisions in order, as many as fit a page. */
  steps(caller: Caller, { run_id, at_least, after, limit }: PartRead): Promise<PageOf<'data'>> {
    return this.read(caller, at_least, async (tx) => {
      await this.visible(tx, caller, run_id);
      const { rows, next_after } = await stepsPage(tx, run_id, after, limit);
      return { data: rows, next_after };
    });
  }

  /** A run whole, with the tree of runs that it delegated to and its first steps. */
  inspect(caller: Caller, { run_id, at_least }: RunRead): Promise<Answer> {
    return this.read(caller, at_least, async (tx) => {
      const run = await this.visible(tx, caller, run_id);
      const tree = await descendants(tx, run_id);
      const totals = await totalsOf(tx, run_id);
      const { rows, next_after } = await stepsPage(tx, run_id);
      return {
        run,
        tree: tree.slice(0, MAX_TREE),
        tree_truncated: tree.length > MAX_TREE,
        totals,
        steps: rows,
        next_after,
      };
    });
  }

  /** Messages, calls, results and snapshots in sequence; of an unfinished run those so far, and `complete` is false. */
  trajectory(
    caller: Caller,
    { run_id, at_least, after, limit }: PartRead,
  ): Promise<Answer & PageOf<'entries'>> {
    return this.read(caller, at_least, async (tx) => {
      const { state, ended_at, position } = await this.visible(tx, caller, run_id);
      const complete = ended_at !== null;
      const { rows, next_after } = await entriesPage(tx, run_id, complete, after, limit);
      return { run_id, state, complete, position, entries: rows, next_after };
    });
  }

  /** Newest first. */
  conversations(caller: Caller, filter: ConversationFilter): Promise<Page> {
    return this.read(caller, filter.at_least, (tx) => conversationPage(tx, caller, filter));
  }

  conversation(caller: Caller, read: { conversation_id: string; at_least?: string }): Promise<Answer> {
    return this.read(caller, read.at_least, (tx) => conversationOf(tx, caller, read.conversation_id));
  }

  private async read<T>(
    caller: Caller,
    atLeast: string | undefined,
    work: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    if (atLeast !== undefined && !(await positionReached(this.db, RUNS, atLeast, POSITION_WITHIN_MS)))
      throw new Problem('unavailable', `The rows do not reflect position ${atLeast} yet; ask again`, {
        retryAfterSeconds: 1,
      });
    return this.db.inOrg(caller.org, work);
  }

  private async visible(tx: Tx, caller: Caller, runId: string): Promise<Answer> {
    const parameters = new Parameters();
    const [row] = await tx.query(
      `SELECT ${WHOLE}, ${visibleTo(caller, parameters.add)} AS visible FROM ${FROM_RUNS} WHERE a.run_id = ${parameters.add(runId)}`,
      parameters.values,
    );
    if (!row) throw new Problem('not_found', `There is no run ${runId}`);
    const { visible, ...run } = row;
    if (visible !== true)
      throw new Problem('forbidden', `Run ${runId} is not yours; its owner or an admin may read it`);
    return answer(run);
  }
}

/** What rows of `agent_runs a` must be for a list, or for a bulk action. */
export function conditions(caller: Caller, filter: RunFilter, { add }: Parameters): string {
  const all = [`a.org_id = ${add(caller.org)}::uuid`, visibleTo(caller, add)];
  for (const name of EQUALS) if (filter[name] !== undefined) all.push(`a.${name} = ${add(filter[name])}`);
  if (filter.bulk_action_id !== undefined)
    all.push(
      `EXISTS (SELECT FROM bulk_action_runs b WHERE b.bulk_action_id = ${add(filter.bulk_action_id)} AND b.run_id = a.run_id)`,
    );
  if (filter.user_id !== undefined) all.push(`a.user_id = ${add(filter.user_id)}::uuid`);
  if (filter.from !== undefined) all.push(`${BEGUN} >= ${add(filter.from)}::timestamptz`);
  if (filter.to !== undefined) all.push(`${BEGUN} < ${add(filter.to)}::timestamptz`);
  if (filter.cursor !== undefined) {
    const { at, id } = placeOf(filter.cursor);
    all.push(`(${BEGUN}, a.run_id) < (to_timestamp(${add(at)}::float8 / 1000), ${add(id)})`);
  }
  return all.join(' AND ');
}
