import type { DomainEvent } from '../envelope';

/** Context `conversations`, on the stream of the runs. A conversation that nobody created is made by its first run. */
export type ConversationCreated = DomainEvent<
  'ConversationCreated',
  { userId: string | null; title: string }
>;
/** Deletes its runs as well. */
export type ConversationDeleted = DomainEvent<'ConversationDeleted', Record<string, never>>;

export type ConversationEvent = ConversationCreated | ConversationDeleted;

export const CONVERSATION_EVENTS: Readonly<Record<ConversationEvent['type'], true>> = {
  ConversationCreated: true,
  ConversationDeleted: true,
};
