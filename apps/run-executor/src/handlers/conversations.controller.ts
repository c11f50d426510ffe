import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '@runyard/contracts';
import {
  conversationReadSchema,
  conversationRefSchema,
  createConversationSchema,
  listConversationsSchema,
  parseWith,
  Problem,
} from '@runyard/contracts';
import { RpcMethod } from '@runyard/service';
import { conversationSlot } from '../domain/intake';
import { isLive } from '../domain/run';
import type { RunQueries } from '../projections/run.queries';
import { EXECUTOR, RUN_QUERIES } from '../tokens';
import type { Executor } from './assembly.process';

/** Conversations: dialogs whose turns are runs. */
@Injectable()
export class ConversationsController {
  constructor(
    @Inject(EXECUTOR) private readonly executor: Executor,
    @Inject(RUN_QUERIES) private readonly queries: RunQueries,
  ) {}

  @RpcMethod('conversations.create')
  async create({ org, actor, userId }: Caller, input: unknown) {
    const { conversation_id = `conv_${randomUUID()}`, title } = parseWith(createConversationSchema, input);
    const command = { type: 'CreateConversation', userId, title } as const;
    const { position, time } = await this.executor.conversations.decide(org, conversation_id, actor, command);
    return { conversation_id, title, user_id: userId, created_at: new Date(time).toISOString(), position };
  }

  @RpcMethod('conversations.list')
  list(caller: Caller, input: unknown) {
    return this.queries.conversations(caller, parseWith(listConversationsSchema, input));
  }

  @RpcMethod('conversations.get')
  get(caller: Caller, input: unknown) {
    return this.queries.conversation(caller, parseWith(conversationReadSchema, input));
  }

  /** Deletes its runs as well; one that has a run under way is refused. */
  @RpcMethod('conversations.delete')
  async delete(caller: Caller, input: unknown) {
    const { conversation_id } = parseWith(conversationRefSchema, input);
    requireOwner(caller, await this.queries.conversation(caller, { conversation_id }));
    const busy = await this.isBusy(caller.org, conversation_id);
    const command = { type: 'DeleteConversation', busy } as const;
    const { position } = await this.executor.conversations.decide(
      caller.org,
      conversation_id,
      caller.actor,
      command,
    );
    return { conversation_id, position };
  }

  /** By the log of its last turn: rows lag, and show each caller only what he may see. */
  private async isBusy(org: string, conversationId: string): Promise<boolean> {
    const { operations, runs } = this.executor;
    const holder = await operations.holderOf(conversationSlot(org, conversationId));
    if (holder === null) return false;
    const { run, sequence } = await runs.glance(org, holder);
    return sequence === 0 ? (await runs.erased(org, holder)) === undefined : isLive(run);
  }
}

/** Whoever may see a run of a conversation may see the conversation; deleting it takes the runs of others along. */
function requireOwner(caller: Caller, conversation: Record<string, unknown>): void {
  if (caller.roles.includes('admin') || (caller.userId !== null && conversation.user_id === caller.userId))
    return;
  throw new Problem(
    'forbidden',
    'The conversation belongs to somebody else; its owner or an admin may delete it.',
  );
}
