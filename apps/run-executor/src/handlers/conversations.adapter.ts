import type { Actor } from '@runyard/contracts';
import { CONVERSATION_EVENTS, Problem, subjectOf } from '@runyard/contracts';
import { foldCache, handle, load } from '@runyard/event-log';
import type { EventLog } from '@runyard/event-log';
import { conversation } from '../domain/conversation';
import type { Conversation, ConversationCommand } from '../domain/conversation';

/** Conversations by their own logs. */
export class Conversations {
  private readonly cache = foldCache<Conversation>(2_000);

  constructor(private readonly log: EventLog) {}

  /** Refuses a conversation that was deleted. */
  async requireOpen(org: string, id: string): Promise<void> {
    const { state } = await load(this.log, this.aggregate(org, id));
    if (state.status === 'deleted')
      throw new Problem('not_found', 'The conversation has been deleted.', {
        errors: [{ pointer: '/conversation_id', detail: 'was deleted' }],
      });
  }

  /** Answers where the decision stands in the log, and when it was made (epoch ms; 0 where nothing was left to decide). */
  async decide(
    org: string,
    id: string,
    actor: Actor,
    command: ConversationCommand,
  ): Promise<{ position: string; time: number }> {
    const meta = { actor, source: 'run-executor' };
    const { position, events } = await handle(this.log, this.aggregate(org, id), command, meta);
    return { position, time: events[0]?.time ?? 0 };
  }

  private aggregate(org: string, id: string) {
    return {
      subject: subjectOf('conversations', org, id),
      context: 'conversations' as const,
      isKnown: CONVERSATION_EVENTS,
      cache: this.cache,
      decider: conversation,
    };
  }
}
