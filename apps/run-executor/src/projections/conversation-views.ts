import type { Caller } from '@runyard/contracts';
import { Problem } from '@runyard/contracts';
import type { Tx } from '@runyard/persistence';
import { cursorOf, limitOf, placeOf } from './cursor';
import { answer } from './run-views';
import type { Answer } from './run-views';
import { Parameters, seesAll, visibleTo } from './visibility';

export interface ConversationFilter {
  user_id?: string;
  limit?: number;
  cursor?: string;
  at_least?: string;
}

const COLUMNS = 'c.conversation_id, c.title, c.user_id, c.created_at';
const CREATED_MS = 'round(extract(epoch FROM c.created_at) * 1000)::float8';

/** One's own conversations, and those that hold a run that one may see. */
function visible(caller: Caller, { add }: Parameters): string {
  if (seesAll(caller)) return 'true';
  const own = caller.userId === null ? 'false' : `coalesce(c.user_id = ${add(caller.userId)}::uuid, false)`;
  return `(${own} OR EXISTS (SELECT FROM agent_runs a
    WHERE a.org_id = c.org_id AND a.conversation_id = c.conversation_id AND ${visibleTo(caller, add)}))`;
}

export async function conversationPage(
  tx: Tx,
  caller: Caller,
  filter: ConversationFilter,
): Promise<{ data: Answer[]; next_cursor: string | null }> {
  const limit = limitOf(filter.limit);
  const parameters = new Parameters();
  const { add } = parameters;
  const all = [`c.org_id = ${add(caller.org)}::uuid`, visible(caller, parameters)];
  if (filter.user_id !== undefined) all.push(`c.user_id = ${add(filter.user_id)}::uuid`);
  if (filter.cursor !== undefined) {
    const { at, id } = placeOf(filter.cursor);
    all.push(`(c.created_at, c.conversation_id) < (to_timestamp(${add(at)}::float8 / 1000), ${add(id)})`);
  }
  const rows = await tx.query(
    `SELECT ${COLUMNS}, ${CREATED_MS} AS created FROM conversations c WHERE ${all.join(' AND ')}
     ORDER BY c.created_at DESC, c.conversation_id DESC LIMIT ${limit + 1}`,
    parameters.values,
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    data: page.map(({ created: _created, ...row }) => answer(row)),
    next_cursor: last ? cursorOf({ at: Number(last.created), id: String(last.conversation_id) }) : null,
  };
}

export async function conversationOf(tx: Tx, caller: Caller, id: string): Promise<Answer> {
  const parameters = new Parameters();
  const [row] = await tx.query(
    `SELECT ${COLUMNS}, ${visible(caller, parameters)} AS visible FROM conversations c
     WHERE c.org_id = ${parameters.add(caller.org)}::uuid AND c.conversation_id = ${parameters.add(id)}`,
    parameters.values,
  );
  if (!row) throw new Problem('not_found', `There is no conversation ${id}`);
  const { visible: mayRead, ...conversation } = row;
  if (mayRead !== true)
    throw new Problem('forbidden', `Conversation ${id} is not yours; its owner or an admin may read it`);
  return answer(conversation);
}
