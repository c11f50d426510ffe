import type { LogStream } from '@runyard/contracts';
import { CONTEXT_STREAMS, parseSubject } from '@runyard/contracts';
import { MESSAGE_ID } from './commit';
import type { Exchange } from './exchange';
import type { Patience } from './stream-api';
import { ApiError, CODES, ask } from './stream-api';
import type { RawCommit, StreamState } from './types';

/** Key of the stream's metadata that holds its incarnation (P9.3). */
export const INCARNATION = 'runyard_incarnation';

interface StoredMessage {
  message: { subject: string; seq: number; time: string; hdrs?: string; data?: string };
}

interface StreamInfo {
  created: string;
  config: { metadata?: Record<string, string> };
  state: { first_seq: number; last_seq: number };
}

/** Reads at most this many commits one by one; longer histories are cheaper in bulk (measured: about 0.3 ms each against 2 ms in all). */
const ONE_BY_ONE = 6;

/** Reads everything of a subject from a sequence on that lies there now; may be a moment stale (a replica's view). */
export type BulkReader = (stream: LogStream, subject: string, from: number) => Promise<RawCommit[]>;

/** What `orgSubjects` builds: all aggregates of an org in a context. */
const OF_ORG = /^runyard\.([a-z]+)\.\*\.[A-Za-z0-9_-]{1,80}\.\*$/;

/** Stream of an aggregate's subject, or of an org's in a context. Throws TypeError on what neither `subjectOf` nor `orgSubjects` built. */
export function streamOf(subject: string): LogStream {
  const context = parseSubject(subject)?.context ?? OF_ORG.exec(subject)?.[1];
  if (context === undefined || !Object.hasOwn(CONTEXT_STREAMS, context))
    throw new TypeError(`"${subject}" is not the subject of an aggregate`);
  return CONTEXT_STREAMS[context as keyof typeof CONTEXT_STREAMS];
}

/** Reads of single aggregates, answered by the stream's leader (P1.2: a replica may not know the newest commit yet). */
export class History {
  constructor(
    private readonly exchange: Exchange,
    private readonly patience: Patience,
    private readonly bulk: BulkReader,
  ) {}

  /** Commits of a subject with sequence > after, oldest first. The leader's "no more" ends it, so none is missed. */
  async read(subject: string, after: number): Promise<RawCommit[]> {
    const stream = streamOf(subject);
    const commits: RawCommit[] = [];
    let from = after + 1;
    for (;;) {
      const next = await this.next(stream, subject, from);
      if (!next) return commits;
      commits.push(next);
      from = next.sequence + 1;
      if (commits.length !== ONE_BY_ONE) continue;
      commits.push(...(await this.bulk(stream, subject, from)));
      from = (commits.at(-1)?.sequence ?? after) + 1;
    }
  }

  /** First commit of a subject at or after a sequence. */
  next(stream: LogStream, subject: string, from: number): Promise<RawCommit | undefined> {
    return this.get(stream, `{"seq":${from},"next_by_subj":"${subject}"}`);
  }

  last(subject: string): Promise<RawCommit | undefined> {
    return this.get(streamOf(subject), `{"last_by_subj":"${subject}"}`);
  }

  async state(stream: LogStream, patience = this.patience): Promise<StreamState> {
    const info = await ask<StreamInfo>(this.exchange, `STREAM.INFO.${stream}`, '', patience);
    return {
      firstSequence: info.state.first_seq,
      lastSequence: info.state.last_seq,
      incarnation: info.config.metadata?.[INCARNATION] ?? info.created,
    };
  }

  private async get(stream: LogStream, query: string): Promise<RawCommit | undefined> {
    try {
      return rawCommit(
        stream,
        await ask<StoredMessage>(this.exchange, `STREAM.MSG.GET.${stream}`, query, this.patience),
      );
    } catch (error) {
      if (error instanceof ApiError && error.code === CODES.noMessageFound) return undefined;
      throw error;
    }
  }
}

function rawCommit(stream: LogStream, { message }: StoredMessage): RawCommit {
  const headers = message.hdrs ? parseHeaders(Buffer.from(message.hdrs, 'base64').toString('latin1')) : {};
  return {
    stream,
    subject: message.subject,
    sequence: message.seq,
    commitId: headers[MESSAGE_ID] ?? '',
    storedAt: Date.parse(message.time),
    headers,
    body: message.data ? Buffer.from(message.data, 'base64') : new Uint8Array(),
  };
}

/** Headers of a stored message: a status line, then `name: value` lines. */
export function parseHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of text.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon > 0) headers[line.slice(0, colon)] = line.slice(colon + 1).trim();
  }
  return headers;
}
