import { Controller } from '@nestjs/common';
import {
  conversationReadSchema,
  conversationRefSchema,
  createConversationSchema,
  listConversationsSchema,
} from '@runyard/contracts';
import { Answer, FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { ANYBODY, OWNERS, STARTERS } from './access';
import { changeRow, conversationRow, pageOf } from './rows';
import { Services } from './services.adapter';

const tag = 'conversations';

/** Conversations: passed on to the run executor. */
@Controller()
export class ConversationsController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'POST',
    path: '/v1/conversations',
    name: 'conversations.create',
    tag,
    summary: 'Create a conversation',
    description: 'Its first run creates one as well.',
    access: STARTERS,
    input: createConversationSchema,
    success: [{ status: 201, description: 'The conversation', body: conversationRow }],
    problems: ['already_exists'],
    idempotency: 'replayed',
  })
  async create(@FromRequest() call: Call): Promise<Answer> {
    const row = await this.services.executor<{ conversation_id?: string }>(call, 'conversations.create');
    return new Answer(
      row,
      row.conversation_id ? { headers: { location: `/v1/conversations/${row.conversation_id}` } } : {},
    );
  }

  @Route({
    method: 'GET',
    path: '/v1/conversations',
    name: 'conversations.list',
    tag,
    summary: 'List conversations, newest first',
    access: ANYBODY,
    input: listConversationsSchema,
    success: [
      {
        status: 200,
        description: 'A page of conversations',
        body: pageOf('ConversationPage', conversationRow),
      },
    ],
    problems: ['invalid_cursor'],
  })
  list(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'conversations.list');
  }

  @Route({
    method: 'GET',
    path: '/v1/conversations/:conversation_id',
    name: 'conversations.get',
    tag,
    summary: 'Read a conversation',
    access: ANYBODY,
    input: conversationReadSchema,
    success: [{ status: 200, description: 'The conversation', body: conversationRow }],
  })
  get(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'conversations.get');
  }

  @Route({
    method: 'DELETE',
    path: '/v1/conversations/:conversation_id',
    name: 'conversations.delete',
    tag,
    summary: 'Delete a conversation and its runs',
    access: OWNERS,
    input: conversationRefSchema,
    success: [{ status: 200, description: 'Deleted', body: changeRow }],
    problems: ['conflict'],
  })
  remove(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'conversations.delete');
  }
}
