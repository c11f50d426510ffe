import type { Runyard } from './client';
import type { Listing } from './listing';
import type { Agent, AgentVersion, Approval, Conversation } from './operations';
import { listing } from './resources';
import type { Body, Query } from './route-call';
import type { CallOptions } from './transport';

type Filter<Q> = Omit<Q, 'cursor'>;

/** Definitions of agents. */
export class Agents {
  constructor(private readonly client: Runyard) {}

  create(body: Body<'POST /v1/agents'>, options: CallOptions = {}) {
    return this.client.call('POST /v1/agents', { ...options, body });
  }

  get(agent_id: string, options: CallOptions = {}) {
    return this.client.call('GET /v1/agents/{agent_id}', { ...options, path: { agent_id } });
  }

  list(query: Filter<Query<'GET /v1/agents'>> = {}, options: CallOptions = {}): Listing<Agent> {
    return listing((cursor) =>
      this.client.call('GET /v1/agents', { ...options, query: { ...query, ...cursor } }),
    );
  }

  /** `etag` of what the change was made on: another one is refused with `version_mismatch`. */
  update(
    agent_id: string,
    body: Body<'PATCH /v1/agents/{agent_id}'>,
    { etag, ...options }: CallOptions & { etag?: string } = {},
  ) {
    const headers = { ...options.headers, ...(etag === undefined ? {} : { 'if-match': etag }) };
    return this.client.call('PATCH /v1/agents/{agent_id}', { ...options, headers, path: { agent_id }, body });
  }

  versions(agent_id: string, options: CallOptions = {}): Listing<AgentVersion> {
    return listing((cursor) =>
      this.client.call('GET /v1/agents/{agent_id}/versions', {
        ...options,
        path: { agent_id },
        query: cursor,
      }),
    );
  }

  delete(agent_id: string, options: CallOptions = {}) {
    return this.client.call('DELETE /v1/agents/{agent_id}', { ...options, path: { agent_id } });
  }
}

/** Dialogs whose turns are runs. */
export class Conversations {
  constructor(private readonly client: Runyard) {}

  create(body: Body<'POST /v1/conversations'> = {}, options: CallOptions = {}) {
    return this.client.call('POST /v1/conversations', { ...options, body });
  }

  get(conversation_id: string, options: CallOptions = {}) {
    const path = { conversation_id };
    return this.client.call('GET /v1/conversations/{conversation_id}', { ...options, path });
  }

  list(query: Filter<Query<'GET /v1/conversations'>> = {}, options: CallOptions = {}): Listing<Conversation> {
    return listing((cursor) =>
      this.client.call('GET /v1/conversations', { ...options, query: { ...query, ...cursor } }),
    );
  }

  delete(conversation_id: string, options: CallOptions = {}) {
    const path = { conversation_id };
    return this.client.call('DELETE /v1/conversations/{conversation_id}', { ...options, path });
  }
}

/** Questions of runs that wait for a person. */
export class Approvals {
  constructor(private readonly client: Runyard) {}

  list(query: Filter<Query<'GET /v1/approvals'>> = {}, options: CallOptions = {}): Listing<Approval> {
    return listing((cursor) =>
      this.client.call('GET /v1/approvals', { ...options, query: { ...query, ...cursor } }),
    );
  }

  get(approval_id: string, options: CallOptions = {}) {
    return this.client.call('GET /v1/approvals/{approval_id}', { ...options, path: { approval_id } });
  }

  decide(
    approval_id: string,
    body: Body<'POST /v1/approvals/{approval_id}/decision'>,
    options: CallOptions = {},
  ) {
    const path = { approval_id };
    return this.client.call('POST /v1/approvals/{approval_id}/decision', { ...options, path, body });
  }
}
