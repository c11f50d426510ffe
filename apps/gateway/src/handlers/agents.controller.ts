import { Controller } from '@nestjs/common';
import {
  agentSwitchSchema,
  createAgentSchema,
  deleteAgentSchema,
  listAgentsSchema,
  readAgentSchema,
  updateAgentSchema,
} from '@runyard/contracts';
import type { AgentRow } from '@runyard/contracts';
import { Answer, FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import type { RouteDeclaration } from '../door/route';
import { ADMINS, ANYBODY, OWNERS } from './access';
import { NextRuns } from './next-runs';
import { agentRow, changeRow, pageOf } from './rows';
import { Services } from './services.adapter';

const tag = 'agents';
const agent = { status: 200, description: 'The agent as it is now', body: agentRow } as const;

/** Enable, disable, lock and unlock differ in who may and in one word. */
const turns = (word: string, summary: string, access: RouteDeclaration['access']): RouteDeclaration => ({
  method: 'POST',
  path: `/v1/agents/:agent_id/${word}`,
  name: `agents.${word}`,
  tag,
  summary,
  access,
  input: agentSwitchSchema,
  success: [agent],
  problems: ['version_mismatch'],
  idempotency: 'replayed',
});

/** Agents: passed on to the agent registry. */
@Controller()
export class AgentsController {
  constructor(
    private readonly services: Services,
    private readonly nextRuns: NextRuns,
  ) {}

  @Route({
    method: 'POST',
    path: '/v1/agents',
    name: 'agents.create',
    tag,
    summary: 'Create an agent',
    access: OWNERS,
    input: createAgentSchema,
    success: [{ ...agent, status: 201 }],
    problems: ['already_exists', 'conflict'],
    idempotency: 'replayed',
  })
  async create(@FromRequest() call: Call<{ agent_id: string }>): Promise<Answer> {
    await this.nextRuns.requireFiring(call);
    const row = await this.services.registry<AgentRow>(call, 'agents.create');
    return new Answer(await this.nextRuns.of(call, row), {
      headers: { location: `/v1/agents/${call.input.agent_id}` },
    });
  }

  @Route({
    method: 'GET',
    path: '/v1/agents',
    name: 'agents.list',
    tag,
    summary: 'List agents by name',
    description: 'Members see their own.',
    access: ANYBODY,
    input: listAgentsSchema,
    success: [{ status: 200, description: 'A page of agents', body: pageOf('AgentPage', agentRow) }],
    problems: ['invalid_cursor'],
  })
  async list(@FromRequest() call: Call): Promise<unknown> {
    const page = await this.services.registry<{ data: AgentRow[] }>(call, 'agents.list');
    return { ...page, data: await this.nextRuns.ofAll(call, page.data) };
  }

  @Route({
    method: 'GET',
    path: '/v1/agents/:agent_id',
    name: 'agents.get',
    tag,
    summary: 'Read an agent, as it is or as it was',
    description:
      '`as_of`: a position in the log or a time; whether the owner is active, and the next slot, are told as of now.',
    access: ANYBODY,
    input: readAgentSchema,
    success: [agent],
  })
  get(@FromRequest() call: Call): Promise<unknown> {
    return this.answer(call, 'agents.get');
  }

  @Route({
    method: 'PATCH',
    path: '/v1/agents/:agent_id',
    name: 'agents.update',
    tag,
    summary: 'Change an agent',
    description: 'A change of prompt, model, tools, bounds, approval policy or mode makes a new version.',
    access: OWNERS,
    input: updateAgentSchema,
    success: [agent],
    problems: ['version_mismatch', 'conflict'],
  })
  async update(@FromRequest() call: Call): Promise<unknown> {
    await this.nextRuns.requireFiring(call);
    return this.answer(call, 'agents.update');
  }

  @Route({
    method: 'DELETE',
    path: '/v1/agents/:agent_id',
    name: 'agents.delete',
    tag,
    summary: 'Delete an agent',
    description: 'Its runs are kept, unless history=purge.',
    access: OWNERS,
    input: deleteAgentSchema,
    success: [{ status: 200, description: 'Deleted', body: changeRow }],
    problems: ['version_mismatch', 'conflict'],
  })
  remove(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'agents.delete');
  }

  @Route(turns('enable', 'Switch an agent on (its owner only)', OWNERS))
  enable(@FromRequest() call: Call): Promise<unknown> {
    return this.answer(call, 'agents.enable');
  }

  @Route(turns('disable', 'Switch an agent off', OWNERS))
  disable(@FromRequest() call: Call): Promise<unknown> {
    return this.answer(call, 'agents.disable');
  }

  @Route(turns('lock', 'Lock an agent; its owner cannot release it', ADMINS))
  lock(@FromRequest() call: Call): Promise<unknown> {
    return this.answer(call, 'agents.lock');
  }

  @Route(turns('unlock', 'Release the lock of an agent', ADMINS))
  unlock(@FromRequest() call: Call): Promise<unknown> {
    return this.answer(call, 'agents.unlock');
  }

  /** The registry says what the agent is, the scheduler when it runs. */
  private async answer(call: Call, method: string): Promise<unknown> {
    return this.nextRuns.of(call, await this.services.registry<AgentRow>(call, method));
  }
}
