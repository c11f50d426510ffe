import type { DomainEvent } from '../envelope';

/** Roles of a person or a key (domain, section 1). */
export const ROLES = ['member', 'reviewer', 'admin', 'operator', 'service'] as const;
export type Role = (typeof ROLES)[number];

/** Context `people`: aggregate ids are {@link ORG_ID}, `user-<uuid>` and `key-<key id>`. */
export const ORG_ID = 'org';
export const userAggregate = (userId: string): string => `user-${userId}`;
export const keyAggregate = (keyId: string): string => `key-${keyId}`;

/** There is an organization. */
export type OrganizationCreated = DomainEvent<'OrganizationCreated', { name: string; timeZone: string }>;
/** Its name or time zone has changed. */
export type OrganizationEdited = DomainEvent<'OrganizationEdited', { name: string; timeZone: string }>;
/** How many days runs are kept after they began; null: for ever, as before any such event. */
export type RetentionSet = DomainEvent<'RetentionSet', { runDays: number | null }>;
/** The org is gone, with everything that it left: its other events are overwritten in all streams (P9.1). */
export type OrganizationErased = DomainEvent<'OrganizationErased', Record<string, never>>;
/** A person has joined. */
export type UserAdded = DomainEvent<
  'UserAdded',
  { userId: string; email: string; name: string; timeZone: string | null; roles: Role[] }
>;
/** A person's name, address, time zone or roles have changed. */
export type UserEdited = DomainEvent<
  'UserEdited',
  { userId: string; email: string; name: string; timeZone: string | null; roles: Role[] }
>;
/** The person's credentials and agents stop. */
export type UserDeactivated = DomainEvent<'UserDeactivated', { userId: string }>;
/** The person's credentials work again; agents stay off until they are switched on. */
export type UserReactivated = DomainEvent<'UserReactivated', { userId: string }>;
/** The person is gone. */
export type UserDeleted = DomainEvent<'UserDeleted', { userId: string }>;
/** `hash` is the SHA-256 of the whole key in hex; the key itself is shown once and stored nowhere. */
export type ApiKeyCreated = DomainEvent<
  'ApiKeyCreated',
  {
    keyId: string;
    label: string;
    hash: string;
    roles: Role[];
    userId: string | null;
    expiresAt: number | null;
  }
>;
/** The key is refused from now on. */
export type ApiKeyRevoked = DomainEvent<'ApiKeyRevoked', { keyId: string }>;

export type PeopleEvent =
  | OrganizationCreated
  | OrganizationEdited
  | RetentionSet
  | OrganizationErased
  | UserAdded
  | UserEdited
  | UserDeactivated
  | UserReactivated
  | UserDeleted
  | ApiKeyCreated
  | ApiKeyRevoked;

export const PEOPLE_EVENTS: Readonly<Record<PeopleEvent['type'], true>> = {
  OrganizationCreated: true,
  OrganizationEdited: true,
  RetentionSet: true,
  OrganizationErased: true,
  UserAdded: true,
  UserEdited: true,
  UserDeactivated: true,
  UserReactivated: true,
  UserDeleted: true,
  ApiKeyCreated: true,
  ApiKeyRevoked: true,
};
