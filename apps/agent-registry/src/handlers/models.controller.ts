import { Inject, Injectable } from '@nestjs/common';
import {
  Problem,
  allowModelSchema,
  catalogueListSchema,
  modelRefSchema,
  platformPromptSchema,
  updateModelSchema,
} from '@runyard/contracts';
import type { Caller, ModelRow } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import type { ModelsCommand } from '../domain/models';
import { requireAdmin } from '../domain/rights';
import { listModels, platformPrompt } from '../projections/catalogue.queries';
import { catalogueReached } from '../projections/positions.queries';
import { modelAnswer, modelChangesOf, modelOf } from './catalogue-answer';
import { RegistryLog } from './registry-log.adapter';
import { askerOf, orgOf, parsed } from './requests';

type Decided = Awaited<ReturnType<ModelsController['act']>>;

/** RPC `models.*` and `platform_prompt.*`: the org's allowed list and what the platform says ahead of every prompt. */
@Injectable()
export class ModelsController {
  constructor(
    @Inject(RegistryLog) private readonly registry: RegistryLog,
    @Inject(DATABASE) private readonly db: Database,
  ) {}

  @RpcMethod('models.allow')
  async allow(caller: Caller, body: unknown): Promise<ModelRow & { position: string }> {
    const input = parsed(allowModelSchema, body);
    const command: ModelsCommand = {
      type: 'AllowModel',
      asker: askerOf(caller),
      model: modelOf(input),
      isDefault: input.is_default,
    };
    return answer(await this.act(caller, command), input.model_id);
  }

  @RpcMethod('models.update')
  async update(caller: Caller, body: unknown): Promise<ModelRow & { position: string }> {
    const input = parsed(updateModelSchema, body);
    const command: ModelsCommand = {
      type: 'ReviseModel',
      asker: askerOf(caller),
      modelId: input.model_id,
      changes: modelChangesOf(input),
    };
    return answer(await this.act(caller, command), input.model_id);
  }

  /** Agents that used it lose it by reaction, moments later; the answer does not wait for that. */
  @RpcMethod('models.remove')
  async remove(
    caller: Caller,
    body: unknown,
  ): Promise<{ model_id: string; removed: true; position: string }> {
    const { model_id: modelId } = parsed(modelRefSchema, body);
    const { position } = await this.act(caller, { type: 'RemoveModel', asker: askerOf(caller), modelId });
    return { model_id: modelId, removed: true, position };
  }

  @RpcMethod('models.set_default')
  async setDefault(caller: Caller, body: unknown): Promise<ModelRow & { position: string }> {
    const { model_id: modelId } = parsed(modelRefSchema, body);
    return answer(
      await this.act(caller, { type: 'SetDefaultModel', asker: askerOf(caller), modelId }),
      modelId,
    );
  }

  @RpcMethod('models.list')
  async list(caller: Caller, body: unknown): Promise<{ data: ModelRow[] }> {
    const { at_least: atLeast } = parsed(catalogueListSchema, body);
    await catalogueReached(this.db, atLeast);
    return { data: await this.db.inOrg(orgOf(caller), listModels) };
  }

  @RpcMethod('platform_prompt.get')
  async prompt(caller: Caller, body: unknown): Promise<{ prompt: string }> {
    const { at_least: atLeast } = parsed(catalogueListSchema, body);
    requireAdmin(askerOf(caller), "read the platform's prompt");
    await catalogueReached(this.db, atLeast);
    return { prompt: await this.db.inOrg(orgOf(caller), platformPrompt) };
  }

  @RpcMethod('platform_prompt.set')
  async setPrompt(caller: Caller, body: unknown): Promise<{ prompt: string; position: string }> {
    const { prompt } = parsed(platformPromptSchema, body);
    const { position } = await this.act(caller, {
      type: 'SetPlatformPrompt',
      asker: askerOf(caller),
      prompt,
    });
    return { prompt, position };
  }

  private act(caller: Caller, command: ModelsCommand) {
    return this.registry.act(this.registry.modelsOf(orgOf(caller)), command, caller);
  }
}

function answer({ state, position }: Decided, modelId: string): ModelRow & { position: string } {
  const row = modelAnswer(state, modelId);
  if (!row) throw new Problem('not_found', `There is no model ${modelId} on the allowed list`);
  return { ...row, position };
}
