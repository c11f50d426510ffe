import { Inject, Injectable } from '@nestjs/common';
import {
  CORE_TOOLS,
  Problem,
  catalogueListSchema,
  registerToolSchema,
  toolRefSchema,
  updateToolSchema,
} from '@runyard/contracts';
import type { Caller, RegisterToolInput, ToolRow } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import type { ToolsCommand } from '../domain/tools';
import { listTools } from '../projections/catalogue.queries';
import { catalogueReached } from '../projections/positions.queries';
import { toolAnswer, toolChangesOf, toolOf } from './catalogue-answer';
import { requireJsonSchema } from './json-schemas';
import { RegistryLog } from './registry-log.adapter';
import { askerOf, orgOf, parsed } from './requests';

/** RPC `tools.*`: the org's tool catalogue. */
@Injectable()
export class ToolsController {
  constructor(
    @Inject(RegistryLog) private readonly registry: RegistryLog,
    @Inject(DATABASE) private readonly db: Database,
  ) {}

  @RpcMethod('tools.register')
  async register(caller: Caller, body: unknown): Promise<ToolRow & { position: string }> {
    const input = parsed(registerToolSchema, body);
    requireJsonSchema(input.input_schema);
    await this.requireAgent(caller, input.source);
    return this.act(
      caller,
      { type: 'RegisterTool', asker: askerOf(caller), tool: toolOf(input) },
      input.name,
    );
  }

  @RpcMethod('tools.update')
  async update(caller: Caller, body: unknown): Promise<ToolRow & { position: string }> {
    const input = parsed(updateToolSchema, body);
    if (input.input_schema) requireJsonSchema(input.input_schema);
    await this.requireAgent(caller, input.source);
    return this.act(
      caller,
      { type: 'ReviseTool', asker: askerOf(caller), name: input.name, changes: toolChangesOf(input) },
      input.name,
    );
  }

  /** Links of agents go by reaction, moments later; no agent is stopped by that. */
  @RpcMethod('tools.remove')
  async remove(caller: Caller, body: unknown): Promise<{ name: string; removed: true; position: string }> {
    const { name } = parsed(toolRefSchema, body);
    const tools = this.registry.toolsOf(orgOf(caller));
    const { position } = await this.registry.act(
      tools,
      { type: 'RemoveTool', asker: askerOf(caller), name },
      caller,
    );
    return { name, removed: true, position };
  }

  /** `core`: what every agent has beside its optional tools, where the deployment has knowledge; no rows of the org's. */
  @RpcMethod('tools.list')
  async list(
    caller: Caller,
    body: unknown,
  ): Promise<{ data: ToolRow[]; core: { name: string; description: string; input_schema: object }[] }> {
    const { at_least: atLeast } = parsed(catalogueListSchema, body);
    await catalogueReached(this.db, atLeast);
    const core = CORE_TOOLS.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    }));
    return { data: await this.db.inOrg(orgOf(caller), listTools), core };
  }

  /**
   * Refuses delegation to an agent that is not there. One that is switched off, locked or deleted later is found out at the
   * call. An agent may be given a tool that names itself: how deep that goes is bounded (`max_depth`).
   */
  private async requireAgent(caller: Caller, source: RegisterToolInput['source'] | undefined): Promise<void> {
    if (source?.kind !== 'agent') return;
    const { situation } = await this.registry.read(this.registry.agent(orgOf(caller), source.agent_id));
    if (situation === 'active') return;
    throw new Problem('invalid_request', `There is no agent ${source.agent_id} to delegate to`, {
      errors: [{ pointer: '/source/agent_id', detail: 'does not exist' }],
    });
  }

  private async act(
    caller: Caller,
    command: ToolsCommand,
    name: string,
  ): Promise<ToolRow & { position: string }> {
    const { state, position } = await this.registry.act(
      this.registry.toolsOf(orgOf(caller)),
      command,
      caller,
    );
    const tool = state.entries[name]?.tool;
    if (!tool) throw new Problem('not_found', `There is no tool ${name} in the catalogue`);
    return { ...toolAnswer(tool), position };
  }
}
