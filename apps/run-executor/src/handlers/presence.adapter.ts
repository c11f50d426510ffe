import { presenceSubject, wakeSubject } from '@runyard/contracts';
import { ask } from '@runyard/event-log';
import type { NatsConnection, Subscription } from '@runyard/event-log';

/** What an instance says of itself or of a run. */
export type PresenceAnswer = 'mine' | 'not_mine' | 'alive' | 'no_responders' | 'timeout';

/** An answer later than this is no answer. */
const ANSWER_WITHIN_MS = 1_000;

const SERVICE = 'run-executor';

interface Question {
  run_id?: string;
  epoch?: number;
}

/**
 * Presence of a process on the bus: it answers on a subject of its own, so that a request to a dead process is answered
 * "no responders" at once (architecture, section 3). The same subscription style carries wake-ups to its drivers.
 */
export class Presence {
  private subscriptions: Subscription[] = [];

  constructor(
    private readonly connection: NatsConnection,
    readonly instance: string,
  ) {}

  /** Answers questions and takes wake-ups until `leave`. */
  join(drives: (runId: string, epoch: number) => boolean, wake: (runId: string) => void): void {
    const answer = this.connection.subscribe(presenceSubject(SERVICE, this.instance), {
      callback: (error, message) => {
        const question = error ? undefined : questionOf(message.string());
        if (!question) return;
        const { run_id, epoch } = question;
        const mine = run_id === undefined ? 'alive' : drives(run_id, epoch ?? 0) ? 'mine' : 'not_mine';
        message.respond(JSON.stringify({ answer: mine }));
      },
    });
    const wakes = this.connection.subscribe(wakeSubject(SERVICE, this.instance), {
      callback: (error, message) => {
        if (!error) wake(message.string());
      },
    });
    this.subscriptions = [answer, wakes];
  }

  leave(): void {
    for (const subscription of this.subscriptions) subscription.unsubscribe();
    this.subscriptions = [];
  }

  /** Asks an instance whether it is there, or whether it drives a run at an epoch. */
  async ask(instance: string, question: Question = {}): Promise<PresenceAnswer> {
    const asked = await ask(
      this.connection,
      presenceSubject(SERVICE, instance),
      JSON.stringify(question),
      ANSWER_WITHIN_MS,
    );
    if ('failed' in asked) return asked.failed;
    return (JSON.parse(asked.answer) as { answer: PresenceAnswer }).answer;
  }

  /** Tells the driver of a run that something was appended. A mere wake-up: it reads the log. */
  wake(instance: string, runId: string): void {
    this.connection.publish(wakeSubject(SERVICE, instance), runId);
  }
}

/** Undefined for what is no question: an error that is thrown here would break the connection for everybody on it. */
function questionOf(text: string): Question | undefined {
  try {
    const question: unknown = JSON.parse(text);
    return typeof question === 'object' && question !== null ? question : undefined;
  } catch {
    return undefined;
  }
}
