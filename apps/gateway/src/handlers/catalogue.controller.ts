import { Controller } from '@nestjs/common';
import {
  allowModelSchema,
  catalogueListSchema,
  modelRefSchema,
  platformPromptSchema,
  registerToolSchema,
  toolRefSchema,
  updateModelSchema,
  updateToolSchema,
} from '@runyard/contracts';
import { FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { ADMINS, ANYBODY } from './access';
import { changeRow, listOf, modelRow, promptRow, toolRow } from './rows';
import { Services } from './services.adapter';

const removed = { status: 200, description: 'Removed', body: changeRow } as const;
const model = { status: 200, description: 'The model as it is now', body: modelRow } as const;
const tool = { status: 200, description: 'The tool as it is now', body: toolRow } as const;
const prompt = {
  status: 200,
  description: 'The prompt ahead of every agent’s own',
  body: promptRow,
} as const;

/** What admins allow an org's agents: models, tools, the platform prompt. Passed on to the agent registry. */
@Controller()
export class CatalogueController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'GET',
    path: '/v1/models',
    name: 'models.list',
    tag: 'models',
    summary: 'List the allowed models',
    access: ANYBODY,
    input: catalogueListSchema,
    success: [{ status: 200, description: 'All models', body: listOf('ModelList', modelRow) }],
  })
  models(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'models.list');
  }

  @Route({
    method: 'POST',
    path: '/v1/models',
    name: 'models.allow',
    tag: 'models',
    summary: 'Allow a model',
    access: ADMINS,
    input: allowModelSchema,
    success: [{ ...model, status: 201 }],
    problems: ['already_exists', 'conflict'],
    idempotency: 'replayed',
  })
  allow(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'models.allow');
  }

  @Route({
    method: 'PATCH',
    path: '/v1/models/:model_id',
    name: 'models.update',
    tag: 'models',
    summary: 'Change an allowed model or repoint its route',
    access: ADMINS,
    input: updateModelSchema,
    success: [model],
    problems: ['conflict'],
  })
  updateModel(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'models.update');
  }

  @Route({
    method: 'DELETE',
    path: '/v1/models/:model_id',
    name: 'models.remove',
    tag: 'models',
    summary: 'Remove a model; agents that used it stop',
    access: ADMINS,
    input: modelRefSchema,
    success: [removed],
  })
  removeModel(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'models.remove');
  }

  @Route({
    method: 'POST',
    path: '/v1/models/:model_id/default',
    name: 'models.set_default',
    tag: 'models',
    summary: 'Make a model the default of new agents',
    access: ADMINS,
    input: modelRefSchema,
    success: [model],
    idempotency: 'replayed',
  })
  setDefault(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'models.set_default');
  }

  @Route({
    method: 'GET',
    path: '/v1/tools',
    name: 'tools.list',
    tag: 'tools',
    summary: 'List the tool catalogue',
    access: ANYBODY,
    input: catalogueListSchema,
    success: [{ status: 200, description: 'All tools', body: listOf('ToolList', toolRow) }],
  })
  tools(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'tools.list');
  }

  @Route({
    method: 'POST',
    path: '/v1/tools',
    name: 'tools.register',
    tag: 'tools',
    summary: 'Register a tool',
    access: ADMINS,
    input: registerToolSchema,
    success: [{ ...tool, status: 201 }],
    problems: ['already_exists', 'conflict'],
    idempotency: 'replayed',
  })
  register(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'tools.register');
  }

  @Route({
    method: 'PATCH',
    path: '/v1/tools/:name',
    name: 'tools.update',
    tag: 'tools',
    summary: 'Change a tool',
    access: ADMINS,
    input: updateToolSchema,
    success: [tool],
    problems: ['conflict'],
  })
  updateTool(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'tools.update');
  }

  @Route({
    method: 'DELETE',
    path: '/v1/tools/:name',
    name: 'tools.remove',
    tag: 'tools',
    summary: 'Delete a tool and its links to agents',
    access: ADMINS,
    input: toolRefSchema,
    success: [removed],
  })
  removeTool(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'tools.remove');
  }

  @Route({
    method: 'GET',
    path: '/v1/platform-prompt',
    name: 'platform_prompt.get',
    tag: 'platform prompt',
    summary: 'Read the platform prompt',
    access: ADMINS,
    input: catalogueListSchema,
    success: [prompt],
  })
  prompt(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'platform_prompt.get');
  }

  @Route({
    method: 'PUT',
    path: '/v1/platform-prompt',
    name: 'platform_prompt.set',
    tag: 'platform prompt',
    summary: 'Set the platform prompt; empty: none',
    access: ADMINS,
    input: platformPromptSchema,
    success: [prompt],
  })
  setPrompt(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'platform_prompt.set');
  }
}
