import type { Caller } from '@runyard/contracts';
import type { Installation } from './installation';
import { CommandFailed } from './terminal';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

/** Orgs that a command is about: all, the one that is named, else the connection's. Throws CommandFailed. */
export async function orgsOf(
  { connection, db }: Installation,
  { org, allOrgs }: { org?: string; allOrgs?: boolean },
): Promise<string[]> {
  if (allOrgs) {
    const rows = await db.read((tx) =>
      tx.query<{ org_id: string }>('SELECT org_id FROM agent_registry.organizations ORDER BY org_id'),
    );
    return rows.map(({ org_id }) => org_id);
  }
  const one = org ?? connection.org_id;
  if (one === undefined) throw new CommandFailed('Which org? Name it with --org, or say --all-orgs');
  if (!isUuid(one)) throw new CommandFailed(`"${one}" is not the id of an org, a UUID`);
  return [one];
}

export async function orgOf(installation: Installation, org?: string): Promise<string> {
  const [one = ''] = await orgsOf(installation, { org });
  return one;
}

/** An operator at the command line, as services see him. */
export const operatorOf = (org: string): Caller => ({
  org,
  actor: 'system:operator',
  userId: null,
  roles: ['admin', 'operator'],
});
