import { SLOT_ANSWERS, parseSlotAnswer } from '@runyard/contracts';
import type { IntakeAnswer } from '@runyard/contracts';
import type { NatsConnection, Subscription } from '@runyard/event-log';
import type { Logger } from '@runyard/service';
import type { SlotLog } from './slot-log.adapter';

/**
 * Hears what intake says of slots' requests: a refusal leaves no run, so it is noted here (P7.2). One of the schedulers
 * hears each answer. One that nobody hears is not asked for again: nothing runs for it either way.
 */
export class SlotAnswers {
  constructor(
    private readonly connection: NatsConnection,
    private readonly slots: SlotLog,
    private readonly logger: Logger,
  ) {}

  start(): Subscription {
    return this.connection.subscribe(SLOT_ANSWERS, {
      queue: 'scheduler',
      callback: (error, message) => {
        if (!error) void this.hear(message.subject, message.data);
      },
    });
  }

  async hear(subject: string, data: Uint8Array): Promise<void> {
    try {
      const place = parseSlotAnswer(subject);
      const answer = JSON.parse(Buffer.from(data).toString('utf8')) as IntakeAnswer;
      if (!place || answer.ok) return;
      await this.slots.decide(place.org, place.agentId, {
        type: 'NoteRefusal',
        slot: place.slot,
        code: answer.code,
      });
    } catch (error) {
      this.logger.error({ err: error, subject }, 'a refusal could not be noted');
    }
  }
}
