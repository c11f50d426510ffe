import { PEOPLE_EVENTS } from '@runyard/contracts';
import type { PeopleEvent } from '@runyard/contracts';
import { RowChanges, eventsOf, isOrg } from '@runyard/persistence';
import type { ProjectedEvent, Projection, RowTable } from '@runyard/persistence';

interface Owner {
  org_id: string;
  user_id: string;
  time_zone: string | null;
  zone_since: string;
  active: boolean;
  active_since: string;
  position: string;
}
interface Org {
  org_id: string;
  time_zone: string;
  zone_since: string;
  position: string;
}

const OWNERS: RowTable<Owner> = {
  name: 'schedule_owners',
  key: ['org_id', 'user_id'],
  columns: ['time_zone', 'zone_since', 'active', 'active_since', 'position'],
};
const ORGS: RowTable<Org> = {
  name: 'schedule_orgs',
  key: ['org_id'],
  columns: ['time_zone', 'zone_since', 'position'],
};

type Recorded = ProjectedEvent<PeopleEvent>;
type UserEvent = Extract<PeopleEvent, { type: `User${string}` }>;

/** Zones of organizations and owners, and whether an owner is active. */
export const SCHEDULE_PEOPLE: Projection = {
  name: 'scheduler-people',
  version: 1,
  stream: 'PEOPLE',
  async apply(tx, commits) {
    const events = commits
      .flatMap((commit) => eventsOf<PeopleEvent>(commit, PEOPLE_EVENTS))
      .filter(({ org }) => isOrg(org));
    const orgs = await RowChanges.load(
      tx,
      ORGS,
      events.map(({ org }) => ({ org_id: org })),
    );
    const users = events.flatMap(({ event, org }) =>
      isUser(event) ? [{ org_id: org, user_id: event.data.userId }] : [],
    );
    const owners = await RowChanges.load(tx, OWNERS, users);
    for (const recorded of events) {
      applyOrg(orgs, recorded);
      applyUser(owners, recorded);
    }
    await orgs.save(tx);
    await owners.save(tx);
    for (const { event, org } of events)
      if (event.type === 'OrganizationErased')
        for (const { name } of [OWNERS, ORGS]) await tx.query(`DELETE FROM ${name} WHERE org_id = $1`, [org]);
  },
};

const isUser = (event: PeopleEvent): event is UserEvent => event.type.startsWith('User');

function applyOrg(orgs: RowChanges<Org>, { event, org, sequence, index }: Recorded): void {
  if (event.type !== 'OrganizationCreated' && event.type !== 'OrganizationEdited') return;
  const { timeZone } = event.data;
  const before = orgs.get({ org_id: org });
  const since = before?.time_zone === timeZone ? before.zone_since : new Date(event.time).toISOString();
  orgs.set({ org_id: org, time_zone: timeZone, zone_since: since, position: `${sequence}.${index}` });
}

function applyUser(owners: RowChanges<Owner>, { event, org, sequence, index }: Recorded): void {
  if (!isUser(event)) return;
  const key = { org_id: org, user_id: event.data.userId };
  const before = owners.get(key);
  const time = new Date(event.time).toISOString();
  const position = `${sequence}.${index}`;
  switch (event.type) {
    case 'UserDeleted':
      return owners.delete(key);
    case 'UserAdded':
    case 'UserEdited': {
      const { timeZone } = event.data;
      const since = before?.time_zone === timeZone ? before.zone_since : time;
      const presence = { active: before?.active ?? true, active_since: before?.active_since ?? time };
      return owners.set({ ...key, time_zone: timeZone, zone_since: since, ...presence, position });
    }
    default: {
      if (!before) return;
      const active = event.type === 'UserReactivated';
      owners.set({
        ...before,
        active,
        active_since: active && !before.active ? time : before.active_since,
        position,
      });
    }
  }
}
