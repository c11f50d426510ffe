import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { MAX_COMMIT_BYTES, COMMIT_CONTENT_TYPE, CONTEXT_STREAMS, parseSubject } from '@runyard/contracts';
import type { MsgHdrs } from '@nats-io/transport-node';
import { headers as newHeaders } from '@nats-io/transport-node';
import { MESSAGE_ID, decodeCommit, encodeCommit } from './commit';
import type { Exchange } from './exchange';
import { NoAnswer } from './exchange';
import type { History } from './history';
import type { Patience } from './stream-api';
import { ApiError, CODES, isPassing, parseAnswer, pauseMs } from './stream-api';
import type { Appended, NewCommit, RawCommit } from './types';
import { CommitTooLarge, LogUnavailable, VersionConflict } from './types';

interface PubAck {
  stream: string;
  seq: number;
  duplicate?: boolean;
}

/** A commit on its way: everything that stays the same over its resends. */
interface Sending {
  commit: NewCommit;
  commitId: string;
  time: number;
  body: Buffer;
}

/**
 * Appends commits. Invariants:
 * 1. A resend carries the same commit id, expectation and body; every other append has a fresh random id (P1.1).
 * 2. Nobody believes to have lost before the subject was read after the expectation, from the leader (P1.2).
 * 3. An event is never earlier than the aggregate's previous one (P1.3).
 */
export class Appender {
  constructor(
    private readonly exchange: Exchange,
    private readonly history: History,
    private readonly patience: Patience,
    private readonly now: () => number,
  ) {}

  async append(commit: NewCommit): Promise<Appended> {
    const parts = parseSubject(commit.subject);
    if (!parts) throw new TypeError(`"${commit.subject}" is not the subject of an aggregate`);
    if (commit.events.length === 0) throw new TypeError('A commit holds at least one event');
    const commitId = commit.commitId ?? randomUUID();
    const time = Math.max(commit.at ?? this.now(), commit.notBefore ?? 0); // invariant 3
    const body = encodeCommit(commit, commitId, parts.org, parts.id, time);
    if (body.byteLength > MAX_COMMIT_BYTES) throw new CommitTooLarge(commit.subject, body.byteLength);
    return this.send({ commit, commitId, time, body });
  }

  private async send(sending: Sending): Promise<Appended> {
    const until = performance.now() + this.patience.limitMs;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.attempt(sending, attempt > 0);
      } catch (error) {
        const passing = isPassing(error) || error instanceof LogUnavailable;
        if (!passing && !(error instanceof NoAnswer)) throw error;
        if (!passing || performance.now() >= until)
          throw new LogUnavailable(
            `${sending.commit.subject}: ${(error as Error).message}`,
            sending.commitId,
          );
        if (!(error instanceof NoAnswer) || error.why === 'no_responders') await wait(pauseMs(attempt));
      }
    }
  }

  private async attempt(sending: Sending, again: boolean): Promise<Appended> {
    const { commit, commitId, time } = sending;
    const answer = await this.exchange.request(
      commit.subject,
      sending.body,
      this.patience.tryMs,
      this.headers(sending),
    );
    let ack: PubAck;
    try {
      ack = parseAnswer<PubAck>(answer);
    } catch (error) {
      return this.resolve(sending, error);
    }
    const stream = streamOfAck(commit, ack);
    if (!ack.duplicate) return { stream, sequence: ack.seq, commitId, time, recovered: again };
    const stored = await this.history.next(stream, commit.subject, ack.seq);
    if (stored?.sequence !== ack.seq || stored.commitId !== commitId || ack.seq <= commit.expected)
      throw new Error(`Commit id ${commitId} was used before, at sequence ${ack.seq}; nothing was stored`);
    return found(stored);
  }

  /** What a refusal means for this commit; rethrows what it cannot judge. */
  private async resolve({ commit, commitId, body }: Sending, error: unknown): Promise<Appended> {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === CODES.messageTooLarge) throw new CommitTooLarge(commit.subject, body.byteLength);
    if (error.code !== CODES.wrongLastSequence && error.code !== CODES.wrongLastSequenceUnknown) throw error;
    const later = await this.history.read(commit.subject, commit.expected); // invariant 2
    const own = later.find((one) => one.commitId === commitId);
    if (own) return found(own);
    throw new VersionConflict(commit.subject, commit.expected, later.at(-1)?.sequence);
  }

  /** Fresh for every try: the client library writes into headers that it is given. */
  private headers({ commit, commitId }: Sending): MsgHdrs {
    const headers = newHeaders();
    headers.set(MESSAGE_ID, commitId);
    headers.set('Nats-Expected-Last-Subject-Sequence', String(commit.expected));
    headers.set('Content-Type', COMMIT_CONTENT_TYPE);
    return headers;
  }
}

function streamOfAck(commit: NewCommit, ack: PubAck): Appended['stream'] {
  const context = parseSubject(commit.subject)?.context;
  const stream = context && CONTEXT_STREAMS[context];
  if (!stream || stream !== ack.stream)
    throw new Error(`${commit.subject} was stored on stream ${ack.stream}; apply the stream definitions`);
  return stream;
}

/** Our own commit, found in the log after its acknowledgement was lost. */
function found(raw: RawCommit): Appended {
  const time = Date.parse(decodeCommit(raw).events[0]?.time ?? '');
  return { stream: raw.stream, sequence: raw.sequence, commitId: raw.commitId, time, recovered: true };
}
