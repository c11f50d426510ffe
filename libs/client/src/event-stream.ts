/** One dispatched event of a stream. */
export interface StreamedEvent {
  /** The last id so far: control events carry none of their own. */
  id: string;
  event: string;
  data: string;
}

/** Reads `text/event-stream` as the HTML standard says. Chunks may be cut anywhere, inside a character too. */
export class EventStream {
  /** Milliseconds that the server wants between connections. */
  retryMs: number | undefined;
  private readonly decoder = new TextDecoder();
  private buffer = '';
  private data: string[] = [];
  private event = '';
  private id = '';

  /** The events that a chunk completes. */
  feed(chunk: Uint8Array): StreamedEvent[] {
    this.buffer += this.decoder.decode(chunk, { stream: true });
    const found: StreamedEvent[] = [];
    for (;;) {
      // A CR at the end may be the first half of CRLF.
      const end = /\r\n|\n|\r(?!$)/.exec(this.buffer);
      if (!end) return found;
      const line = this.buffer.slice(0, end.index);
      this.buffer = this.buffer.slice(end.index + end[0].length);
      if (line === '') this.dispatch(found);
      else this.field(line);
    }
  }

  private field(line: string): void {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.data.push(value);
    else if (name === 'event') this.event = value;
    else if (name === 'id' && !value.includes('\0')) this.id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
  }

  private dispatch(found: StreamedEvent[]): void {
    if (this.data.length > 0)
      found.push({ id: this.id, event: this.event || 'message', data: this.data.join('\n') });
    this.data = [];
    this.event = '';
  }
}
