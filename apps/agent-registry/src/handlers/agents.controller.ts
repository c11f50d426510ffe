import { Inject, Injectable } from '@nestjs/common';
import {
  Problem,
  agentSwitchSchema,
  createAgentSchema,
  deleteAgentSchema,
  listAgentsSchema,
  readAgentSchema,
  updateAgentSchema,
} from '@runyard/contracts';
import type { AgentRow, Caller, CreateAgentInput } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import { requireActive } from '../domain/agent';
import type { AgentCommand, CatalogueView } from '../domain/agent-commands';
import { requireSight, seesAll } from '../domain/rights';
import { agentAsOf } from '../projections/agent-as-of.queries';
import { findAgent, listAgents } from '../projections/agent.queries';
import { catalogueReached } from '../projections/positions.queries';
import { agentAct } from './agent-act';
import { behaviourOf, detailsOf, newBehaviour, newDetails } from './agent-answer';
import { RegistryLog } from './registry-log.adapter';
import { askerOf, orgOf, parsed } from './requests';

const NOT_FOUND = 'There is no such agent';
const NOTHING_ELSE: CatalogueView = { modelRows: {}, defaultModelId: null, toolRows: {} };

/** RPC `agents.*`. Writes answer the state that was decided and its position; reads come from the rows. */
@Injectable()
export class AgentsController {
  constructor(
    @Inject(RegistryLog) private readonly registry: RegistryLog,
    @Inject(DATABASE) private readonly db: Database,
  ) {}

  @RpcMethod('agents.create')
  async create(caller: Caller, body: unknown): Promise<AgentRow> {
    const input = parsed(createAgentSchema, body);
    const org = orgOf(caller);
    const ownerId = ownerFor(caller, input);
    const [catalogue, owner] = await Promise.all([
      this.registry.catalogue(org),
      this.registry.owner(org, ownerId),
    ]);
    const wish = { behaviour: newBehaviour(input), details: newDetails(input), enabled: input.enabled };
    const asker = askerOf(caller);
    return this.act(caller, input.agent_id, {
      type: 'CreateAgent',
      asker,
      ownerId,
      owner,
      catalogue,
      ...wish,
    });
  }

  @RpcMethod('agents.update')
  async update(caller: Caller, body: unknown): Promise<AgentRow> {
    const input = parsed(updateAgentSchema, body);
    // What the agent refers to already was on the lists when it was chosen; only something new is looked up.
    const refers = input.model_id !== undefined || input.tools !== undefined;
    const catalogue = refers ? await this.registry.catalogue(orgOf(caller)) : NOTHING_ELSE;
    const changes = { behaviour: behaviourOf(input), details: detailsOf(input) };
    return this.act(caller, input.agent_id, {
      type: 'UpdateAgent',
      asker: askerOf(caller),
      ifMatch: input.if_match,
      catalogue,
      ...changes,
    });
  }

  @RpcMethod('agents.enable')
  async enable(caller: Caller, body: unknown): Promise<AgentRow> {
    const { agent_id: id, reason, if_match: ifMatch } = parsed(agentSwitchSchema, body);
    const org = orgOf(caller);
    const { ownerId } = requireActive(await this.registry.read(this.registry.agent(org, id)));
    const owner = await this.registry.owner(org, ownerId);
    return this.act(caller, id, { type: 'EnableAgent', asker: askerOf(caller), reason, ifMatch, owner });
  }

  @RpcMethod('agents.disable')
  disable(caller: Caller, body: unknown): Promise<AgentRow> {
    return this.flip(caller, body, 'DisableAgent');
  }

  @RpcMethod('agents.lock')
  lock(caller: Caller, body: unknown): Promise<AgentRow> {
    return this.flip(caller, body, 'LockAgent');
  }

  @RpcMethod('agents.unlock')
  unlock(caller: Caller, body: unknown): Promise<AgentRow> {
    return this.flip(caller, body, 'UnlockAgent');
  }

  @RpcMethod('agents.delete')
  async delete(
    caller: Caller,
    body: unknown,
  ): Promise<{ agent_id: string; deleted: true; position: string }> {
    const { agent_id: id, history, if_match: ifMatch } = parsed(deleteAgentSchema, body);
    const command: AgentCommand = { type: 'DeleteAgent', asker: askerOf(caller), history, ifMatch };
    const { position } = await this.registry.act(this.registry.agent(orgOf(caller), id), command, caller);
    return { agent_id: id, deleted: true, position };
  }

  @RpcMethod('agents.get')
  async get(caller: Caller, body: unknown): Promise<AgentRow> {
    const { agent_id: id, at_least: atLeast, as_of: asOf } = parsed(readAgentSchema, body);
    await catalogueReached(this.db, atLeast);
    const org = orgOf(caller);
    const row = await this.db.inOrg(org, (tx) => findAgent(tx, id));
    if (!row) throw new Problem('not_found', NOT_FOUND);
    requireSight(askerOf(caller), row.owner_id, 'The agent');
    return asOf === undefined ? row : agentAsOf(this.db, org, id, asOf);
  }

  @RpcMethod('agents.list')
  async list(caller: Caller, body: unknown): Promise<{ data: AgentRow[]; next_cursor: string | null }> {
    const { at_least: atLeast, ...filter } = parsed(listAgentsSchema, body);
    const asker = askerOf(caller);
    if (!seesAll(asker)) requireSight(asker, asker.userId, 'The list of agents');
    await catalogueReached(this.db, atLeast);
    const owner = seesAll(asker) ? filter.owner_id : (asker.userId ?? undefined);
    return this.db.inOrg(orgOf(caller), (tx) => listAgents(tx, { ...filter, owner_id: owner }));
  }

  private flip(
    caller: Caller,
    body: unknown,
    type: 'DisableAgent' | 'LockAgent' | 'UnlockAgent',
  ): Promise<AgentRow> {
    const { agent_id: id, reason, if_match: ifMatch } = parsed(agentSwitchSchema, body);
    return this.act(caller, id, { type, asker: askerOf(caller), reason, ifMatch });
  }

  private act(caller: Caller, id: string, command: AgentCommand): Promise<AgentRow> {
    return agentAct(this.registry, caller, id, command);
  }
}

/** Who creates, owns; a key that stands for an application must say for whom. */
function ownerFor(caller: Caller, input: CreateAgentInput): string {
  const ownerId = input.owner_id ?? caller.userId;
  if (ownerId) return ownerId;
  const errors = [{ pointer: '/owner_id', detail: 'is required, since the credential stands for no person' }];
  throw new Problem('invalid_request', 'The request names no owner', { errors });
}
