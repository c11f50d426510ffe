import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  Problem,
  completeTaskSchema,
  createTaskSchema,
  deleteTaskSchema,
  moveTaskSchema,
  setTaskStepsSchema,
  updateTaskSchema,
} from '@runyard/contracts';
import type { Caller, TaskDetails } from '@runyard/contracts';
import { RpcMethod } from '@runyard/service';
import { requireAgent, requireWork } from '../domain/rights';
import type { Asker } from '../domain/rights';
import type { LiveTask } from '../domain/task';
import type { TaskCommand } from '../domain/task-commands';
import { requireUnlocked } from '../domain/task-locks';
import { WatchQueries } from '../projections/watch.queries';
import { requireDependencies } from './dependencies';
import { RegistryFacts } from './registry.adapter';
import { askerOf, detailsOf, orgOf, parsed } from './requests';
import { NO_TASK_HERE, TaskReads } from './task-answers';
import type { TaskAnswer } from './task-answers';
import { TasksLog } from './tasks-log.adapter';

const ID_BYTES = 16;
/** Time-sorted enough for nobody to rely on it; random enough for nobody to guess. */
const newTaskId = (): string =>
  `task_${BigInt(`0x${randomBytes(ID_BYTES).toString('hex')}`)
    .toString(36)
    .padStart(25, '0')}`;

/** RPC `tasks.*`: what people do with tasks on the board. Writes answer the row as of their position. */
@Injectable()
export class TasksController {
  constructor(
    @Inject(TasksLog) private readonly tasks: TasksLog,
    @Inject(TaskReads) private readonly reads: TaskReads,
    @Inject(RegistryFacts) private readonly registry: RegistryFacts,
    @Inject(WatchQueries) private readonly clock: WatchQueries,
  ) {}

  @RpcMethod('tasks.create')
  async create(caller: Caller, body: unknown): Promise<TaskAnswer> {
    const { column, ...input } = parsed(createTaskSchema, body);
    const [org, asker] = [orgOf(caller), askerOf(caller)];
    const details: TaskDetails = {
      title: input.title,
      description: input.description,
      acceptance: input.acceptance,
      agentId: input.agent_id,
      modelId: input.model_id,
      maxSteps: input.max_steps,
      blockedBy: [...new Set(input.blocked_by)],
      reviewPlan: input.review_plan,
    };
    await this.requireReferences(org, asker, null, details);
    const taskId = newTaskId();
    const { position } = await this.tasks.act(
      org,
      taskId,
      { type: 'CreateTask', asker, details, column },
      caller,
    );
    // The reaction would place the card as well; who creates a task wants to see it stand.
    const placed = await this.tasks.onBoard(
      org,
      { type: 'PlaceCard', taskId, userId: asker.userId, column },
      caller,
    );
    return this.reads.asOf(org, asker, taskId, later(placed.position, position));
  }

  @RpcMethod('tasks.update')
  async update(caller: Caller, body: unknown): Promise<TaskAnswer> {
    const { task_id: taskId, fence, ...fields } = parsed(updateTaskSchema, body);
    const [org, asker] = [orgOf(caller), askerOf(caller)];
    const changes = detailsOf(fields);
    await this.requireReferences(org, asker, taskId, changes);
    return this.write(caller, taskId, {
      type: 'EditTask',
      changes,
      ...(await this.under(org, asker, fence)),
    });
  }

  @RpcMethod('tasks.set_steps')
  async setSteps(caller: Caller, body: unknown): Promise<TaskAnswer> {
    const { task_id: taskId, fence, steps } = parsed(setTaskStepsSchema, body);
    const lock = await this.under(orgOf(caller), askerOf(caller), fence);
    return this.write(caller, taskId, { type: 'EditSteps', steps, ...lock });
  }

  @RpcMethod('tasks.complete')
  async complete(caller: Caller, body: unknown): Promise<TaskAnswer> {
    const { task_id: taskId, fence, report } = parsed(completeTaskSchema, body);
    const lock = await this.under(orgOf(caller), askerOf(caller), fence);
    return this.write(caller, taskId, { type: 'CompleteTask', report, ...lock });
  }

  @RpcMethod('tasks.delete')
  async delete(caller: Caller, body: unknown): Promise<{ task_id: string; deleted: true; position: string }> {
    const { task_id: taskId, fence } = parsed(deleteTaskSchema, body);
    const org = orgOf(caller);
    const lock = await this.under(org, askerOf(caller), fence);
    const { position } = await this.tasks.act(org, taskId, { type: 'DeleteTask', ...lock }, caller);
    return { task_id: taskId, deleted: true, position };
  }

  /** Needs no lock, but does not go past somebody else's (docs/adr: the order of a board). */
  @RpcMethod('tasks.move')
  async move(
    caller: Caller,
    body: unknown,
  ): Promise<{ task_id: string; column: string; rank: string; position: string }> {
    const { task_id: taskId, column, after, index } = parsed(moveTaskSchema, body);
    const [org, asker] = [orgOf(caller), askerOf(caller)];
    const task = await this.live(org, taskId);
    requireWork(asker, task.userId);
    if (task.lock) requireUnlocked(task, asker, await this.clock.now(org));
    const command = { type: 'MoveCard', taskId, userId: task.userId, column, after, index } as const;
    const { place, position } = await this.tasks.onBoard(org, command, caller);
    if (!place) throw new Problem('not_found', NO_TASK_HERE);
    return { task_id: taskId, ...place, position };
  }

  private async write(caller: Caller, taskId: string, command: TaskCommand): Promise<TaskAnswer> {
    const org = orgOf(caller);
    const { position } = await this.tasks.act(org, taskId, command, caller);
    return this.reads.asOf(org, askerOf(caller), taskId, position);
  }

  private async under(org: string, asker: Asker, fence: number) {
    return { asker, fence, now: await this.clock.now(org) };
  }

  private async live(org: string, taskId: string): Promise<LiveTask> {
    const task = await this.tasks.read(org, taskId);
    if (task.situation !== 'live') throw new Problem('not_found', NO_TASK_HERE);
    return task;
  }

  /** What a task names must exist, and the agent must be one that the caller may give tasks. */
  private async requireReferences(
    org: string,
    asker: Asker,
    taskId: string | null,
    { agentId, modelId, blockedBy }: Partial<TaskDetails>,
  ): Promise<void> {
    if (agentId !== undefined) {
      const agent = await this.registry.agent(org, agentId);
      if (!agent) throw missing('/agent_id', 'names no agent');
      requireAgent(asker, agent.ownerId);
    }
    if (modelId && !(await this.registry.allowedModels(org)).has(modelId))
      throw missing('/model_id', 'is not on the allowed list');
    if (blockedBy?.length) await requireDependencies(this.tasks, org, taskId, blockedBy);
  }
}

const missing = (pointer: string, detail: string): Problem =>
  new Problem('invalid_request', `The task is not valid: ${pointer} ${detail}`, {
    errors: [{ pointer, detail }],
  });

const later = (one: string, other: string): string =>
  Number(one.split('.')[0]) > Number(other.split('.')[0]) ? one : other;
