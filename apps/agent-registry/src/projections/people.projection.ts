import { PEOPLE_EVENTS } from '@runyard/contracts';
import type { PeopleEvent } from '@runyard/contracts';
import type { Projection, Tx } from '@runyard/persistence';
import { ALONE_WITH_DEPARTURES } from './departures';
import { recorded, type Recorded, type RecordedAs } from './commits';
import { applyErasures } from './people-erasures';
import { organizationAfter } from './organization-row';
import type { OrganizationRecord } from './organization-row';
import { deleteRows, distinctPlaces, loadRows, placeKey, saveRows } from './records';
import type { Place, Table } from './records';

interface UserRecord {
  org_id: string;
  user_id: string;
  email: string | null;
  name: string | null;
  time_zone: string | null;
  roles: string[];
  active: boolean;
  created_at: string | null;
  position: string | null;
}

interface KeyRecord {
  org_id: string;
  key_id: string;
  label: string;
  hash: string;
  roles: string[];
  user_id: string | null;
  created_at: string;
  created_by: string;
  expires_at: string | null;
  revoked_at: string | null;
  position: string;
}

const ORGANIZATIONS: Table<OrganizationRecord> = {
  name: 'organizations',
  key: ['org_id'],
  columns: ['name', 'time_zone', 'retention_days', 'created_at', 'position'],
};
const USERS: Table<UserRecord> = {
  name: 'users',
  key: ['org_id', 'user_id'],
  columns: ['email', 'name', 'time_zone', 'roles', 'active', 'created_at', 'position'],
};
const DEPARTED: Table<Pick<UserRecord, 'org_id' | 'user_id'>> = {
  name: 'departed_users',
  key: ['org_id', 'user_id'],
  columns: [],
};
const KEYS: Table<KeyRecord> = {
  name: 'api_keys',
  key: ['org_id', 'key_id'],
  columns: [
    'label',
    'hash',
    'roles',
    'user_id',
    'created_at',
    'created_by',
    'expires_at',
    'revoked_at',
    'position',
  ],
};

type PeopleRecorded = RecordedAs<PeopleEvent>;

/** Organizations, users and API keys, from the whole stream PEOPLE. */
export const PEOPLE_PROJECTION: Projection = {
  name: 'registry-people',
  version: 1,
  stream: 'PEOPLE',
  async apply(tx, commits) {
    const events = recorded(commits, PEOPLE_EVENTS).filter(isPeople);
    await applyOrganizations(tx, events);
    await applyUsers(tx, events);
    await applyKeys(tx, events);
    await applyErasures(tx, events);
  },
};

const isPeople = (event: Recorded): event is PeopleRecorded =>
  event.context === 'people' && event.type in PEOPLE_EVENTS;

async function applyOrganizations(tx: Tx, events: readonly PeopleRecorded[]): Promise<void> {
  const orgs = distinctPlaces(events.map(({ org }) => ({ org, id: org })));
  const rows = new Map((await loadRows(tx, ORGANIZATIONS, 'org_id', orgs)).map((row) => [row.org_id, row]));
  for (const event of events) {
    const after = organizationAfter(rows.get(event.org), event);
    if (after) rows.set(event.org, after);
  }
  await saveRows(tx, ORGANIZATIONS, [...rows.values()]);
}

const isUser = (
  event: PeopleRecorded,
): event is Extract<PeopleRecorded, { data: { email: string } } | { type: `User${string}` }> =>
  event.type.startsWith('User');

async function applyUsers(tx: Tx, events: readonly PeopleRecorded[]): Promise<void> {
  const ours = events.filter(isUser);
  const places = distinctPlaces(ours.map((event) => ({ org: event.org, id: event.data.userId })));
  const rows = new Map(
    (await loadRows(tx, USERS, 'user_id', places)).map((row) => [
      placeKey({ org: row.org_id, id: row.user_id }),
      row,
    ]),
  );
  const departed: Place[] = [];
  for (const event of ours) {
    const place = { org: event.org, id: event.data.userId };
    const row = userAfter(rows.get(placeKey(place)), event);
    if (row) rows.set(placeKey(place), row);
    else if (rows.delete(placeKey(place)) || event.type === 'UserDeleted') departed.push(place);
  }
  if (departed.length > 0) await tx.query(ALONE_WITH_DEPARTURES);
  // The tombstones first: an agent of theirs that comes later must find either the row or the tombstone.
  await saveRows(
    tx,
    DEPARTED,
    departed.map(({ org, id }) => ({ org_id: org, user_id: id })),
  );
  await deleteRows(tx, USERS.name, 'user_id', departed);
  await saveRows(tx, USERS, [...rows.values()]);
}

function userAfter(
  row: UserRecord | undefined,
  event: Extract<PeopleRecorded, { type: `User${string}` }>,
): UserRecord | undefined {
  const { position } = event;
  switch (event.type) {
    case 'UserAdded': {
      const { userId, email, name, timeZone, roles } = event.data;
      const profile = { email, name, time_zone: timeZone, roles };
      return {
        org_id: event.org,
        user_id: userId,
        ...profile,
        active: true,
        created_at: event.time,
        position,
      };
    }
    case 'UserEdited': {
      const { email, name, timeZone, roles } = event.data;
      return row && { ...row, email, name, time_zone: timeZone, roles, position };
    }
    case 'UserDeactivated':
      return row && { ...row, active: false, position };
    case 'UserReactivated':
      return row && { ...row, active: true, position };
    case 'UserDeleted':
      return undefined;
    default:
      return event satisfies never;
  }
}

async function applyKeys(tx: Tx, events: readonly PeopleRecorded[]): Promise<void> {
  const ours = events.filter((event) => event.type === 'ApiKeyCreated' || event.type === 'ApiKeyRevoked');
  const places = distinctPlaces(ours.map((event) => ({ org: event.org, id: event.data.keyId })));
  const rows = new Map((await loadRows(tx, KEYS, 'key_id', places)).map((row) => [row.key_id, row]));
  for (const event of ours) {
    const { position, time } = event;
    if (event.type === 'ApiKeyRevoked') {
      const row = rows.get(event.data.keyId);
      if (row) rows.set(row.key_id, { ...row, revoked_at: time, position });
      continue;
    }
    const { keyId, label, hash, roles, userId, expiresAt } = event.data;
    const expires_at = expiresAt === null ? null : new Date(expiresAt).toISOString();
    const whose = {
      org_id: event.org,
      key_id: keyId,
      user_id: userId,
      created_at: time,
      created_by: event.actor,
    };
    rows.set(keyId, { ...whose, label, hash, roles, expires_at, revoked_at: null, position });
  }
  await saveRows(tx, KEYS, [...rows.values()]);
}
