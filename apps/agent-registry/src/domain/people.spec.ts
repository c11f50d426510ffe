import { deciderSpec } from '@runyard/testing';
import { NO_KEY, decideKey, evolveKey, rolesOfKey } from './api-key';
import type { ApiKey, ApiKeyCommand, ApiKeyEvent, PresentedKey } from './api-key';
import { NO_ORGANIZATION, decideOrganization, evolveOrganization } from './organization';
import type { Organization, OrganizationCommand, OrganizationEvent } from './organization';
import { SYSTEM } from './rights';
import type { Asker } from './rights';
import { NO_USER, decideUser, evolveUser } from './user';
import type { User, UserCommand, UserEvent } from './user';

const admin: Asker = { userId: 'admin', roles: ['admin', 'member'] };
const member: Asker = { userId: 'max', roles: ['member'] };

describe('an organization', () => {
  const given = deciderSpec<Organization, OrganizationCommand, OrganizationEvent>({
    initial: NO_ORGANIZATION,
    evolve: evolveOrganization,
    decide: decideOrganization,
  });
  const data = { name: 'Org', timeZone: 'UTC' };
  const created = { type: 'OrganizationCreated' as const, data };

  it('is made once, by the installation alone', () => {
    given()
      .when({ type: 'CreateOrganization', asker: SYSTEM, ...data })
      .then(created);
    given()
      .when({ type: 'CreateOrganization', asker: admin, ...data })
      .thenRefused('forbidden');
    given(created)
      .when({ type: 'CreateOrganization', asker: SYSTEM, ...data })
      .thenRefused('already_exists');
  });

  it('is edited by its admins', () => {
    given(created)
      .when({ type: 'EditOrganization', asker: admin, changes: { name: 'New' } })
      .then({ type: 'OrganizationEdited', data: { ...data, name: 'New' } });
    given(created)
      .when({ type: 'EditOrganization', asker: admin, changes: { name: 'Org' } })
      .thenNothing();
    given(created).when({ type: 'EditOrganization', asker: member, changes: {} }).thenRefused('forbidden');
    given().when({ type: 'EditOrganization', asker: admin, changes: {} }).thenRefused('not_found');
  });
});

describe('a user', () => {
  const given = deciderSpec<User, UserCommand, UserEvent>({
    initial: NO_USER,
    evolve: evolveUser,
    decide: decideUser,
  });
  const profile = { email: 'm@example.org', name: 'Max', timeZone: null, roles: ['member' as const] };
  const added = { type: 'UserAdded' as const, data: { userId: 'max', ...profile } };
  const gone = { type: 'UserDeactivated' as const, data: { userId: 'max' } };
  const back = { type: 'UserReactivated' as const, data: { userId: 'max' } };
  const deleted = { type: 'UserDeleted' as const, data: { userId: 'max' } };
  const add: UserCommand = { type: 'AddUser', asker: admin, userId: 'max', profile };

  it('is added once, and its id is never given to another', () => {
    given().when(add).then(added);
    given(added).when(add).thenNothing();
    given(added)
      .when({ ...add, profile: { ...profile, name: 'Moritz' } })
      .thenRefused('already_exists');
    given(added, deleted).when(add).thenRefused('already_exists');
  });

  it('is edited, deactivated, reactivated and deleted, each said once', () => {
    given(added)
      .when({ type: 'EditUser', asker: admin, changes: { name: 'M' } })
      .then({ type: 'UserEdited', data: { userId: 'max', ...profile, name: 'M' } });
    given(added)
      .when({ type: 'EditUser', asker: admin, changes: { name: 'Max' } })
      .thenNothing();
    given(added).when({ type: 'DeactivateUser', asker: admin }).then(gone);
    given(added, gone).when({ type: 'DeactivateUser', asker: admin }).thenNothing();
    given(added, gone).when({ type: 'ReactivateUser', asker: admin }).then(back);
    given(added).when({ type: 'ReactivateUser', asker: admin }).thenNothing();
    given(added, gone).when({ type: 'DeleteUser', asker: admin }).then(deleted);
    given(added, deleted).when({ type: 'DeleteUser', asker: admin }).thenNothing();
    given().when({ type: 'DeactivateUser', asker: admin }).thenRefused('not_found');
    given(added, deleted).when({ type: 'EditUser', asker: admin, changes: {} }).thenRefused('not_found');
  });

  it('counts its deactivations', () => {
    const state = [added, gone, back, gone].reduce(
      (user, event) => evolveUser(user, { ...event, time: 0, actor: 'system:t' } as UserEvent),
      NO_USER,
    );
    expect(state).toMatchObject({ situation: 'inactive', deactivations: 2 });
  });

  it('is changed by admins alone, who cannot take themselves out', () => {
    given(added).when({ type: 'DeactivateUser', asker: member }).thenRefused('forbidden');
    const self: Asker = { userId: 'max', roles: ['admin'] };
    const asAdmin = { ...added, data: { ...added.data, roles: ['admin' as const] } };
    given(asAdmin).when({ type: 'DeactivateUser', asker: self }).thenRefused('conflict');
    given(asAdmin).when({ type: 'DeleteUser', asker: self }).thenRefused('conflict');
    given(asAdmin)
      .when({ type: 'EditUser', asker: self, changes: { roles: ['member'] } })
      .thenRefused('conflict');
    given(asAdmin)
      .when({ type: 'EditUser', asker: self, changes: { roles: ['admin', 'member'] } })
      .then({ type: 'UserEdited', data: { ...asAdmin.data, roles: ['admin', 'member'] } });
  });
});

describe('an API key', () => {
  const given = deciderSpec<ApiKey, ApiKeyCommand, ApiKeyEvent>({
    initial: NO_KEY,
    evolve: evolveKey,
    decide: decideKey,
  });
  const key = {
    keyId: 'key_1',
    label: 'laptop',
    hash: 'h',
    roles: ['member' as const],
    userId: 'max' as string | null,
    expiresAt: null as number | null,
  };
  const created = { type: 'ApiKeyCreated' as const, data: key };
  const revoked = { type: 'ApiKeyRevoked' as const, data: { keyId: 'key_1' } };
  const create = (asker: Asker, more: Partial<typeof key> = {}): ApiKeyCommand => ({
    type: 'CreateKey',
    asker,
    key: { ...key, ...more },
    userKnown: true,
    now: 1_000,
  });

  it('speaks as the one who made it, with no more roles than theirs', () => {
    given().when(create(member)).then(created);
    given()
      .when(create({ userId: 'max', roles: ['reviewer'] }))
      .thenRefused('forbidden');
    given().when(create(SYSTEM)).then(created);
  });

  it('comes from an admin for a new member, and from nobody else', () => {
    given().when(create(admin)).then(created);
    given()
      .when(create({ userId: 'eve', roles: ['member'] }))
      .thenRefused('forbidden');
  });

  it('is for a user of the org; whether somebody is one is told to admins alone', () => {
    const toNobody = (asker: Asker) => ({ ...create(asker, { userId: 'nobody' }), userKnown: false });
    given().when(toNobody(admin)).thenRefused('invalid_request');
    given().when(toNobody(member)).thenRefused('forbidden');
  });

  it('stands for an application only where an admin made it', () => {
    given()
      .when(create(admin, { userId: null }))
      .then({ type: 'ApiKeyCreated', data: { ...key, userId: null } });
    given()
      .when(create(member, { userId: null }))
      .thenRefused('forbidden');
  });

  it('is not made expired, nor twice', () => {
    given()
      .when(create(member, { expiresAt: 1_000 }))
      .thenRefused('invalid_request');
    given(created).when(create(member)).thenRefused('already_exists');
  });

  it('is revoked once, by its user or an admin', () => {
    given(created).when({ type: 'RevokeKey', asker: member }).then(revoked);
    given(created).when({ type: 'RevokeKey', asker: admin }).then(revoked);
    given(created, revoked).when({ type: 'RevokeKey', asker: member }).thenNothing();
    given(created)
      .when({ type: 'RevokeKey', asker: { userId: 'eve', roles: ['member'] } })
      .thenRefused('forbidden');
    given().when({ type: 'RevokeKey', asker: admin }).thenRefused('not_found');
  });

  describe('when presented', () => {
    const live: PresentedKey = {
      roles: ['member', 'reviewer'],
      expiresAt: 2_000,
      revoked: false,
      user: { active: true, roles: ['member', 'admin'] },
    };
    const reason = (presented: PresentedKey, now = 1_000) => {
      try {
        return rolesOfKey(presented, now);
      } catch (error) {
        return (error as { facts: { reason: string } }).facts.reason;
      }
    };

    it('has the roles that both it and its user have; an application its own', () => {
      expect(reason(live)).toEqual(['member']);
      expect(reason({ ...live, user: null })).toEqual(['member', 'reviewer']);
    });

    it('is refused with the reason', () => {
      expect(reason({ ...live, revoked: true })).toBe('revoked');
      expect(reason(live, 2_000)).toBe('expired');
      expect(reason({ ...live, user: { active: false, roles: ['member'] } })).toBe('user_inactive');
      expect(reason({ ...live, user: undefined })).toBe('user_deleted');
    });
  });
});
