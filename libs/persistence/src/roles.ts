import { createHmac } from 'node:crypto';
import type { Client } from 'pg';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { openClient } from './connections';
import { scramVerifier } from './scram';

/** Every service's first role is a member: what all services share (blobs, archive) is granted to it, under the tenant policies. */
export const TENANT_GROUP = 'runyard_tenant';
/** Every service's second role is a member. */
export const ACROSS_GROUP = 'runyard_across';

const SERVICE = /^[a-z][a-z0-9-]{0,30}$/;

/** Schema of a service: `run-executor` → `run_executor`. */
export function schemaOf(service: string): string {
  if (!SERVICE.test(service))
    throw new TypeError(`"${service}" is no service name (lower-case letters, digits, "-")`);
  return service.replaceAll('-', '_');
}

/** Login role of a service, bound by row-level security to one org at a time. */
export const roleOf = (service: string): string => `runyard_${schemaOf(service)}`;

/** Second login role of a service, for projectors and sweeps. */
export const acrossRoleOf = (service: string): string => `${roleOf(service)}_across`;

/** The passwords of roles, all from one secret of the installation: nothing to store per role, and the same at every start. */
export const derivedPasswords =
  (secret: string) =>
  (role: string): string =>
    createHmac('sha256', secret).update(role).digest('base64url');

/** `url` with another login. */
export function urlFor(url: string, role: string, password?: string): string {
  const changed = new URL(url);
  changed.username = role;
  changed.password = password === undefined ? '' : encodeURIComponent(password);
  return changed.toString();
}

/** Roles are of the whole server: starts beside ours, also for other databases, touch the same rows of its catalogue. */
const CONFLICT = /tuple concurrently|duplicate key|already exists/;
const ATTEMPTS = 20;

async function insist(client: Client, statement: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query(statement);
      return;
    } catch (error) {
      if (!(error instanceof Error) || !CONFLICT.test(error.message) || attempt === ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10 * attempt));
    }
  }
}

/** SQL that makes a role where it is missing. Attributes stay at their defaults: no superuser, no BYPASSRLS. */
const created = (role: string, kind: 'LOGIN' | 'NOLOGIN'): string =>
  `DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = ${escapeLiteral(role)}) THEN
     CREATE ROLE ${escapeIdentifier(role)} ${kind}; END IF; END $$`;

const joined = (role: string, group: string): string =>
  `DO $$ BEGIN IF NOT pg_has_role(${escapeLiteral(role)}, ${escapeLiteral(group)}, 'MEMBER') THEN
     GRANT ${escapeIdentifier(group)} TO ${escapeIdentifier(role)}; END IF; END $$`;

const pathed = (role: string, schema: string): string =>
  `DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole
       WHERE r.rolname = ${escapeLiteral(role)} AND s.setdatabase = 0 AND s.setconfig @> ARRAY[${escapeLiteral(`search_path=${schema}, public`)}]) THEN
     ALTER ROLE ${escapeIdentifier(role)} SET search_path = ${schema}, public; END IF; END $$`;

async function refuseBypass(client: Client, roles: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ rolname: string }>(
    'SELECT rolname FROM pg_roles WHERE rolname = ANY($1) AND (rolsuper OR rolbypassrls)',
    [roles],
  );
  if (rows[0])
    throw new Error(
      `Role ${rows[0].rolname} bypasses row-level security; take that attribute away before starting`,
    );
}

/**
 * Makes two login roles per service, which own nothing and cannot bypass row-level security. Repeatable, and safe when
 * several instances start at once. `password` yields each role's password; undefined leaves the role's as it is.
 */
export async function ensureRoles(
  ownerUrl: string,
  services: readonly string[],
  password: (role: string) => string | undefined,
): Promise<void> {
  const client = await openClient({
    url: ownerUrl,
    applicationName: 'runyard roles',
    statementTimeoutMs: 30_000,
    waitMs: 10_000,
  });
  const pairs = services.flatMap((service) => [
    { role: roleOf(service), group: TENANT_GROUP, schema: schemaOf(service) },
    { role: acrossRoleOf(service), group: ACROSS_GROUP, schema: schemaOf(service) },
  ]);
  try {
    for (const group of [TENANT_GROUP, ACROSS_GROUP]) await insist(client, created(group, 'NOLOGIN'));
    for (const { role, group, schema } of pairs) {
      await insist(client, created(role, 'LOGIN'));
      await insist(client, joined(role, group));
      await insist(client, pathed(role, schema));
      const secret = password(role);
      if (secret !== undefined)
        await insist(
          client,
          `ALTER ROLE ${escapeIdentifier(role)} PASSWORD ${escapeLiteral(scramVerifier(secret))}`,
        );
    }
    await refuseBypass(client, [TENANT_GROUP, ACROSS_GROUP, ...pairs.map(({ role }) => role)]);
  } finally {
    await client.end();
  }
}
