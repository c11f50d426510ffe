import type { ConversationEvent } from '@runyard/contracts';
import { Problem } from '@runyard/contracts';

/** Where a conversation stands. One that nobody created explicitly has no log and is made by its first run. */
export interface Conversation {
  status: 'none' | 'open' | 'deleted';
}

export type ConversationCommand =
  | { type: 'CreateConversation'; userId: string | null; title: string }
  | { type: 'DeleteConversation'; busy: boolean };

type Undated<E> = E extends { type: infer T; data: infer D } ? { type: T; data: D } : never;

/** The decider of a conversation. A deleted id stays closed: a new dialog must not inherit its name. */
export const conversation = {
  initial: { status: 'none' } as Conversation,

  evolve(_state: Conversation, event: ConversationEvent): Conversation {
    return { status: event.type === 'ConversationCreated' ? 'open' : 'deleted' };
  },

  decide(state: Conversation, command: ConversationCommand): Undated<ConversationEvent>[] {
    if (command.type === 'CreateConversation') {
      if (state.status !== 'none')
        throw new Problem('already_exists', 'There is, or was, a conversation of that id; choose another.');
      return [{ type: 'ConversationCreated', data: { userId: command.userId, title: command.title } }];
    }
    if (state.status === 'deleted') return [];
    if (command.busy)
      throw new Problem('conversation_busy', 'The conversation has a run under way; cancel it first.');
    return [{ type: 'ConversationDeleted', data: {} }];
  },
};
