import { randomUUID } from 'node:crypto';
import { REPLY_HEADER, requestSubject, TRACE_HEADER } from '@runyard/contracts';
import type { IntakeAnswer, RunRequest } from '@runyard/contracts';
import type { WorkQueues } from '@runyard/event-log';
import { currentContext } from '@runyard/service';

/** The part of a bus connection that awaiting one answer needs. */
export interface ReplyConnection {
  subscribe(
    subject: string,
    options: { max: number; callback: (error: Error | null, message: { data: Uint8Array }) => void },
  ): { unsubscribe(): void };
}

/** An address for one answer; random, so that nobody else can know it. */
const replySubject = (): string => `_INBOX.${randomUUID().replaceAll('-', '')}`;

const traceHeader = (traceparent: string | undefined): Record<string, string> =>
  traceparent === undefined ? {} : { [TRACE_HEADER]: traceparent };

/** Publishes run requests and awaits what intake says (P2.7). */
export class RunRequests {
  constructor(
    private readonly queues: Pick<WorkQueues, 'publish'>,
    private readonly connection: ReplyConnection,
    private readonly patienceMs = 2_000,
  ) {}

  /**
   * Intake's answer, or undefined where none comes in time: the request is stored all the same and will be carried out.
   * The inbox is subscribed before the request is published, or a fast answer would be lost.
   */
  async send(org: string, request: RunRequest): Promise<IntakeAnswer | undefined> {
    let settle: (answer: IntakeAnswer | undefined) => void = () => undefined;
    const answered = new Promise<IntakeAnswer | undefined>((resolve) => (settle = resolve));
    const inbox = replySubject();
    const subscription = this.connection.subscribe(inbox, {
      max: 1,
      callback: (error, message) =>
        settle(error ? undefined : (JSON.parse(Buffer.from(message.data).toString('utf8')) as IntakeAnswer)),
    });
    const timer = setTimeout(() => settle(undefined), this.patienceMs);
    try {
      await this.queues.publish(requestSubject(org), request, {
        [REPLY_HEADER]: inbox,
        ...traceHeader(currentContext()?.traceparent),
      });
      return await answered;
    } finally {
      clearTimeout(timer);
      subscription.unsubscribe();
    }
  }
}
