import { acrossRoleOf, roleOf, schemaOf } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';
import { SERVICES } from '../../../deploy/local/service-list';
import type { Finding } from './doctor';
import type { Installation } from './installation';
import type { OwnerDatabase } from './owner-database.adapter';

const stepName = ({ name, timestamp }: Migration): string => `${name}${timestamp}`;
const PREPARE =
  'Run the prepare step of this version (docs/upgrade.md), or start the service with DATABASE_OWNER_URL';

/** Every service's schema at the steps of this version, and no role in a schema that is not its own. */
export async function schemas({ db }: Installation): Promise<Finding[]> {
  const common = new Set(await stepsOf(db, 'archive'));
  const findings: Finding[] = [];
  for (const { service, migrations } of SERVICES) {
    const schema = schemaOf(service);
    const applied = await stepsOf(db, schema);
    findings.push(judge(schema, migrations.map(stepName), applied, common));
  }
  const names = SERVICES.map(({ service }) => service);
  return [...findings, await strangers(db, names)];
}

function judge(
  schema: string,
  known: readonly string[],
  applied: readonly string[],
  common: ReadonlySet<string>,
): Finding {
  const what = `schema ${schema}`;
  const missing = known.filter((name) => !applied.includes(name));
  if (missing.length > 0) return { what, found: `lacks ${missing.join(', ')}`, remedy: PREPARE };
  const newer = applied.filter((name) => !known.includes(name) && !common.has(name));
  if (newer.length > 0)
    return { what, found: `has ${newer.join(', ')}`, remedy: 'It is of a newer version: use that one' };
  return { what, found: `at ${known.at(-1) ?? 'no step'}` };
}

async function stepsOf(db: OwnerDatabase, schema: string): Promise<string[]> {
  return db.read(async (tx) => {
    const [table] = await tx.query<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [
      `"${schema}".migrations`,
    ]);
    if (!table?.there) return [];
    const rows = await tx.query<{ name: string }>(`SELECT name FROM "${schema}".migrations`);
    return rows.map(({ name }) => name);
  });
}

/** Login roles of services that reach into the schema of another one. */
async function strangers(db: OwnerDatabase, services: readonly string[]): Promise<Finding> {
  const own = services.flatMap((service) =>
    [roleOf(service), acrossRoleOf(service)].map((role) => ({ role, schema: schemaOf(service) })),
  );
  const reach = await db.read((tx) =>
    tx.query<{ role: string; schema: string }>(
      `SELECT o.role, s.nspname AS schema FROM jsonb_to_recordset($1::jsonb) AS o (role text, schema text)
       JOIN pg_roles r ON r.rolname = o.role
       JOIN pg_namespace s ON s.nspname = ANY($2) AND s.nspname <> o.schema
       WHERE has_schema_privilege(o.role, s.nspname, 'USAGE') ORDER BY 1, 2`,
      [JSON.stringify(own), services.map((service) => schemaOf(service))],
    ),
  );
  const what = 'rights between services';
  if (reach.length === 0) return { what, found: "no role reaches into another service's schema" };
  const remedy = reach.map(({ role, schema }) => `REVOKE ALL ON SCHEMA ${schema} FROM ${role}`).join('; ');
  return { what, found: reach.map(({ role, schema }) => `${role} reads ${schema}`).join(', '), remedy };
}
