import { Problem } from '@runyard/contracts';
import type { CapsEvent, NewEvent } from '@runyard/contracts';

/** A cap and how often it was changed, which is its etag. */
export interface Cap {
  /** Null: no cap. */
  tokens: number | null;
  changes: number;
}

/** Weekly caps of an org: one for all, and exceptions. */
export interface Caps {
  default: Cap;
  /** Owners that have, or had, one of their own; `set` false: the default holds for them again. */
  owners: Readonly<Record<string, Cap & { set: boolean }>>;
}

export const NO_CAPS: Caps = { default: { tokens: null, changes: 0 }, owners: {} };

export type CapsCommand =
  | { type: 'SetCap'; ownerId: string | null; tokens: number | null; expected?: number }
  | { type: 'ClearCap'; ownerId: string; expected?: number };

type Decided<E = CapsEvent> = E extends { type: infer T extends string; data: infer D }
  ? NewEvent<T, D>
  : never;

/** The cap that holds for an owner, and whose it is. */
export function capFor(caps: Caps, ownerId: string): Cap & { source: 'owner' | 'default' } {
  const own = caps.owners[ownerId];
  return own?.set ? { ...own, source: 'owner' } : { ...caps.default, source: 'default' };
}

/** The cap as it is set for an owner (null: the default), with the etag that changes with it. */
export function capEntry(caps: Caps, ownerId: string | null): Cap & { source: 'owner' | 'default' } {
  if (ownerId === null) return { ...caps.default, source: 'default' };
  return { ...capFor(caps, ownerId), changes: caps.owners[ownerId]?.changes ?? 0 };
}

export function evolveCaps(caps: Caps, event: CapsEvent): Caps {
  switch (event.type) {
    case 'DefaultCapSet':
      return { ...caps, default: { tokens: event.data.tokens, changes: caps.default.changes + 1 } };
    case 'OwnerCapSet':
      return withOwner(caps, event.data.ownerId, event.data.tokens, true);
    case 'OwnerCapCleared':
      return withOwner(caps, event.data.ownerId, null, false);
    default:
      return event satisfies never;
  }
}

function withOwner(caps: Caps, ownerId: string, tokens: number | null, set: boolean): Caps {
  const changes = (caps.owners[ownerId]?.changes ?? 0) + 1;
  return { ...caps, owners: { ...caps.owners, [ownerId]: { tokens, changes, set } } };
}

/** A change holds for the runs that start after it; what is reserved stays reserved. */
export function decideCaps(caps: Caps, command: CapsCommand): Decided[] {
  const entry = capEntry(caps, command.ownerId);
  if (command.expected !== undefined && command.expected !== entry.changes)
    throw new Problem('version_mismatch', 'The cap was changed meanwhile; read it again.', {
      etag: String(entry.changes),
    });
  if (command.type === 'ClearCap')
    return caps.owners[command.ownerId]?.set
      ? [{ type: 'OwnerCapCleared', data: { ownerId: command.ownerId } }]
      : [];
  const { ownerId, tokens } = command;
  if (ownerId === null) return entry.tokens === tokens ? [] : [{ type: 'DefaultCapSet', data: { tokens } }];
  return entry.source === 'owner' && entry.tokens === tokens
    ? []
    : [{ type: 'OwnerCapSet', data: { ownerId, tokens } }];
}
