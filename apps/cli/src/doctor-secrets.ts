import { Problem } from '@runyard/contracts';
import type { SecretRow } from '@runyard/contracts';
import type { Finding } from './doctor';
import type { Installation } from './installation';
import { operatorOf } from './orgs';
import { rpcOf } from './service-calls';

interface Named {
  org_id: string;
  name: string;
  /** Models and tools that name it. */
  used_by: string;
  /** It goes into a header; what goes into the environment of a program may be any text. */
  sent: boolean;
}

/** Secrets that models and tools name. In the environment of a tool's program they stand as `secret:NAME`. */
const NAMED = `
  SELECT org_id, name, string_agg(DISTINCT used_by, ', ' ORDER BY used_by) AS used_by, bool_or(sent) AS sent FROM (
    SELECT org_id, provider ->> 'credential' AS name, 'model ' || model_id AS used_by, true AS sent
    FROM agent_registry.allowed_models WHERE removed_at IS NULL
    UNION ALL
    SELECT org_id, jsonb_path_query(source, '$.**.credential') #>> '{}', 'tool ' || tools.name, true FROM agent_registry.tools
    UNION ALL
    SELECT org_id, substr(value, length('secret:') + 1), 'tool ' || tool, false
    FROM (SELECT org_id, name AS tool, jsonb_path_query(source, '$.**.env.*') #>> '{}' AS value FROM agent_registry.tools) env
    WHERE value LIKE 'secret:%'
  ) named WHERE name IS NOT NULL GROUP BY org_id, name ORDER BY org_id, name`;

/** Every secret that is named is there and can be sent: otherwise the first run that needs it finds out. */
export async function secrets(installation: Installation): Promise<Finding[]> {
  const named = await installation.db.read((tx) => tx.query<Named>(NAMED));
  const findings: Finding[] = [];
  for (const org of new Set(named.map(({ org_id }) => org_id))) {
    const ofOrg = named.filter(({ org_id }) => org_id === org);
    const states = await statesOf(installation, org, ofOrg);
    if (states) findings.push(...ofOrg.map((one) => judge(one, states.get(one.name))));
    else findings.push({ what: `secrets of org ${org}`, found: 'not looked at: no executor answers' });
  }
  return findings;
}

async function statesOf(
  installation: Installation,
  org: string,
  named: readonly Named[],
): Promise<ReadonlyMap<string, SecretRow['state']> | undefined> {
  const call = await rpcOf(installation, operatorOf(org));
  const names = named.map(({ name }) => name);
  try {
    const { data } = await call<{ data: SecretRow[] }>('run-executor', 'secrets.check', { names });
    return new Map(data.map(({ name, state }) => [name, state]));
  } catch (error) {
    if (error instanceof Problem && error.code === 'unavailable') return undefined;
    throw error;
  }
}

function judge({ org_id: org, name, used_by, sent }: Named, state: SecretRow['state'] | undefined): Finding {
  const what = `secret ${name} of org ${org}`;
  const file = `<folder of secrets>/${org}/${name}`;
  if (state === 'missing')
    return {
      what,
      found: `is not set, and ${used_by} needs it`,
      remedy: `Write it into ${file} of every executor`,
    };
  if (state === 'unsendable' && sent)
    return {
      what,
      found: `cannot be sent for ${used_by}: it holds blanks, line breaks or characters outside ASCII`,
      remedy: `Write ${file} anew, the value alone on one line; of several values the provider wants one`,
    };
  return { what, found: `in place for ${used_by}` };
}
