/** One dispatched event, as the HTML standard's "event stream interpretation" gives it. */
export interface ReadEvent {
  id: string;
  event: string;
  data: string;
}

/**
 * Reads `text/event-stream` bytes as the HTML standard says: an outside view of what the gateway writes, with lines
 * ended by CR, LF or CRLF. Chunks may be cut anywhere.
 */
export class EventStreamReader {
  private readonly decoder = new TextDecoder('utf-8');
  private buffer = '';
  private data: string[] = [];
  private type = '';
  private lastId = '';
  readonly events: ReadEvent[] = [];
  readonly comments: string[] = [];
  retry: number | undefined;

  feed(chunk: Uint8Array): this {
    this.buffer += this.decoder.decode(chunk, { stream: true });
    for (;;) {
      const match = /\r\n|\n|\r(?!$)/.exec(this.buffer);
      if (!match) return this;
      const line = this.buffer.slice(0, match.index);
      this.buffer = this.buffer.slice(match.index + match[0].length);
      this.line(line);
    }
  }

  private line(line: string): void {
    if (line === '') return this.dispatch();
    if (line.startsWith(':')) return void this.comments.push(line.slice(1).trim());
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.type = value;
    else if (field === 'data') this.data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.lastId = value;
    else if (field === 'retry' && /^\d+$/.test(value)) this.retry = Number(value);
  }

  private dispatch(): void {
    if (this.data.length > 0)
      this.events.push({ id: this.lastId, event: this.type || 'message', data: this.data.join('\n') });
    this.data = [];
    this.type = '';
  }
}

export function readEventStream(...chunks: Uint8Array[]): ReadEvent[] {
  const reader = new EventStreamReader();
  for (const chunk of chunks) reader.feed(chunk);
  return reader.events;
}
