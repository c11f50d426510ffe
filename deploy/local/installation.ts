import { connect } from '@nats-io/transport-node';
import type { Caller } from '@runyard/contracts';
import { NatsRpcClient } from '@runyard/service';
import { OPERATOR } from '../nats/access';
import type { Stack } from './stack';

/** An org with its first admin, as the registry created it. */
export interface CreatedOrg {
  org: { org_id: string };
  user: { user_id: string };
  key: { key: string };
}

export interface NewOrg {
  org_id?: string;
  name: string;
  time_zone: string;
  admin: object;
  key_label: string;
}

/** Calls of the installation itself belong to no org. */
const NO_ORG = '00000000-0000-0000-0000-000000000000';

/** Creates an org, its first admin and a key for that admin; the key is shown this once. */
export async function createOrg(stack: Stack, input: NewOrg): Promise<CreatedOrg> {
  const connection = await connect({ servers: stack.natsUrl, ...stack.busLogin(OPERATOR) });
  const installation: Caller = { org: NO_ORG, actor: 'system:installation', userId: null, roles: [] };
  try {
    return await new NatsRpcClient(connection).call<CreatedOrg>(
      'agent-registry',
      'orgs.create',
      installation,
      input,
    );
  } finally {
    await connection.close();
  }
}
