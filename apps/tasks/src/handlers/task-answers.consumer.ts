import { TASK_ANSWERS, parseTaskAnswer } from '@runyard/contracts';
import type { IntakeAnswer } from '@runyard/contracts';
import type { NatsConnection, Subscription } from '@runyard/event-log';
import type { Logger } from '@runyard/service';
import type { TasksLog } from './tasks-log.adapter';

/**
 * Hears what intake says of tasks' requests: a refusal leaves no run, so it is told to the task here. One of the instances
 * hears each answer; one that nobody hears is asked for again by the watch.
 */
export class TaskAnswers {
  constructor(
    private readonly connection: NatsConnection,
    private readonly tasks: TasksLog,
    private readonly logger: Logger,
  ) {}

  start(): Subscription {
    return this.connection.subscribe(TASK_ANSWERS, {
      queue: 'tasks',
      callback: (error, message) => {
        if (!error) void this.hear(message.subject, message.data);
      },
    });
  }

  async hear(subject: string, data: Uint8Array): Promise<void> {
    try {
      const place = parseTaskAnswer(subject);
      const answer = JSON.parse(Buffer.from(data).toString('utf8')) as IntakeAnswer;
      if (!place || answer.ok) return;
      const { code, message } = answer;
      await this.tasks.react(place.org, place.taskId, {
        type: 'RequestRefused',
        number: place.number,
        code,
        message,
      });
    } catch (error) {
      this.logger.error({ err: error, subject }, 'a refusal could not be told to its task');
    }
  }
}
