import type { GroupEvent, KnowledgeEvent } from '@runyard/contracts';
import type { Tx } from '@runyard/persistence';
import type { Happened } from './happened';

export const isGroupEvent = (event: KnowledgeEvent): event is GroupEvent => event.type.startsWith('Group');

/** What a group's events make of its rows; members of a group that is gone go with it. */
export async function applyGroup(tx: Tx, at: Happened<GroupEvent>): Promise<void> {
  const { org, id, event, time, position } = at;
  if (event.type === 'GroupCreated')
    await tx.query(
      'INSERT INTO reader_groups (org_id, group_id, name, created_at, position) VALUES ($1, $2, $3, $4, $5)',
      [org, id, event.data.name, time, position],
    );
  else if (event.type === 'GroupDeleted')
    await tx.query('DELETE FROM reader_groups WHERE org_id = $1 AND group_id = $2', [org, id]);
  else {
    await change(tx, org, id, event);
    await tx.query('UPDATE reader_groups SET position = $3 WHERE org_id = $1 AND group_id = $2', [
      org,
      id,
      position,
    ]);
  }
}

type Change = Exclude<GroupEvent, { type: 'GroupCreated' | 'GroupDeleted' }>;

async function change(tx: Tx, org: string, id: string, event: Change): Promise<void> {
  switch (event.type) {
    case 'GroupRenamed':
      await tx.query('UPDATE reader_groups SET name = $3 WHERE org_id = $1 AND group_id = $2', [
        org,
        id,
        event.data.name,
      ]);
      return;
    case 'GroupMemberAdded':
      await tx.query(
        `INSERT INTO group_members (org_id, group_id, user_id)
         SELECT org_id, group_id, $3 FROM reader_groups WHERE org_id = $1 AND group_id = $2 ON CONFLICT DO NOTHING`,
        [org, id, event.data.userId],
      );
      return;
    case 'GroupMemberRemoved':
      await tx.query('DELETE FROM group_members WHERE org_id = $1 AND group_id = $2 AND user_id = $3', [
        org,
        id,
        event.data.userId,
      ]);
      return;
    default:
      return event satisfies never;
  }
}
