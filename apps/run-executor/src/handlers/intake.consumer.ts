import type { IntakeAnswer, RunRequest } from '@runyard/contracts';
import { parseWith, Problem, REPLY_HEADER, runRequestSchema } from '@runyard/contracts';
import { Poison, RetryLater } from '@runyard/event-log';
import type { NatsConnection, QueueConsumer, QueueMessage, WorkQueues } from '@runyard/event-log';
import type { Intake } from './intake.process';
import type { RunTelemetry } from './telemetry.adapter';

/** Durable name on REQUESTS; data, listed in the README. */
export const INTAKE_DURABLE = 'run-executor-intake';

/** A request that meets a database that is away is looked at again after this long. */
const UNAVAILABLE_MS = 500;

/** Takes run requests from the work queue `REQUESTS`. A refusal goes to the reply subject, or to the dead letters (P2.7). */
export class IntakeConsumer {
  constructor(
    private readonly connection: NatsConnection,
    private readonly queues: WorkQueues,
    private readonly intake: Intake,
    private readonly concurrency: number,
    private readonly telemetry: RunTelemetry,
  ) {}

  start(): Promise<QueueConsumer> {
    return this.queues.consume({
      queue: 'REQUESTS',
      durable: INTAKE_DURABLE,
      concurrency: this.concurrency,
      handler: (message) => this.telemetry.intake(message, () => this.handle(message)),
      onDead: (message) => this.fence(message),
    });
  }

  async handle(message: QueueMessage): Promise<void> {
    const reply = message.headers[REPLY_HEADER];
    try {
      const answer = await this.intake.take(orgOf(message), requestOf(message));
      if (reply) this.answer(reply, answer);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // Not a refusal: the request waits as long as it takes, and whoever asked is told that it is on its way.
      if (error.code === 'unavailable') throw new RetryLater(UNAVAILABLE_MS, error.message);
      if (!reply) throw new Poison(`${error.code}: ${error.message}`);
      const { code, message: text, facts } = error;
      this.answer(reply, { ok: false, code, message: text, facts });
    }
  }

  /** What a dead request stood for must not hold anything, nor come to life later (P2.6). */
  private async fence(message: QueueMessage): Promise<void> {
    let request: RunRequest;
    try {
      request = requestOf(message);
    } catch {
      return;
    }
    await this.intake.giveUp(orgOf(message), request);
  }

  private answer(reply: string, answer: IntakeAnswer): void {
    this.connection.publish(reply, JSON.stringify(answer));
  }
}

/** The org is the subject's, never the body's. */
const orgOf = (message: QueueMessage): string => message.subject.split('.')[2] ?? '';

function requestOf(message: QueueMessage): RunRequest {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(message.body));
  } catch {
    throw new Problem('malformed_json', 'The request is not JSON in UTF-8.');
  }
  return parseWith(runRequestSchema, body, 'run request');
}
