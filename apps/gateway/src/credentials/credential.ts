import { Problem, looksLikeApiKey } from '@runyard/contracts';
import type { Caller, Role } from '@runyard/contracts';

/** A credential that holds. */
export interface Credential {
  /** Names the credential in rate limits and logs; never the secret. */
  id: string;
  caller: Caller;
  /** Epoch milliseconds; null: until it is revoked. */
  expiresAt: number | null;
}

/** What a request presents. */
export type Presented = { kind: 'key'; key: string } | { kind: 'token'; token: string };

/**
 * Pure: the credential out of the headers; nothing else is looked at, so a key in a URL opens nothing. Throws
 * `unauthenticated` that says what is missing. A mistyped key is refused here, by its checksum, without a lookup.
 */
export function presented(headers: Readonly<Record<string, string | string[] | undefined>>): Presented {
  const bearer = bearerOf(headers.authorization);
  const header = headers['x-api-key'];
  if (header !== undefined && bearer !== undefined && header !== bearer)
    throw unauthenticated('Authorization and X-API-Key carry two different credentials; send one');
  const text = bearer ?? (typeof header === 'string' ? header.trim() : undefined);
  if (!text)
    throw unauthenticated(
      'No credential was sent: Authorization: Bearer <key or token>, or X-API-Key: <key>, is missing',
    );
  if (looksLikeApiKey(text)) return { kind: 'key', key: text };
  if (text.startsWith('ry_'))
    throw unauthenticated('The API key is mistyped or cut: its checksum does not hold');
  if (bearer === undefined) throw unauthenticated('X-API-Key does not hold an API key of this platform');
  return { kind: 'token', token: text };
}

function bearerOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const match = typeof header === 'string' ? /^Bearer +([^\s]+)$/i.exec(header.trim()) : null;
  if (!match) throw unauthenticated('Authorization must be "Bearer <key or token>"');
  return match[1];
}

export const unauthenticated = (message: string): Problem => new Problem('unauthenticated', message);

/** Throws `forbidden` that says which roles would do, unless the caller has one of them. */
export function requireRole(caller: Caller, allowed: readonly Role[]): void {
  if (caller.roles.some((role) => allowed.includes(role))) return;
  const has = caller.roles.length > 0 ? caller.roles.join(', ') : 'none';
  throw new Problem(
    'forbidden',
    `This needs one of the roles ${allowed.join(', ')}; the credential has ${has}`,
    {
      required_roles: [...allowed],
      roles: [...caller.roles],
    },
  );
}
