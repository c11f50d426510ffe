/**
 * Reads server-sent events from bytes, however the network cut them: inside a character, between CR and LF, in the middle
 * of a field name (C53). Only `data` matters to model providers; other fields and comments are dropped.
 */
export class EventStream {
  /** Keeps the bytes of an unfinished character, and drops a byte order mark at the start. */
  private readonly decoder = new TextDecoder('utf-8');
  private line: string[] = [];
  private data: string[] = [];
  /** The last chunk ended in CR: a LF at the start of the next one belongs to it. */
  private afterReturn = false;

  /** The data of every event that is complete with these bytes. */
  push(bytes: Uint8Array): string[] {
    return this.lines(this.decoder.decode(bytes, { stream: true }));
  }

  /**
   * The data of an event whose blank line never came; null when nothing is left. It may be whole (servers that forget
   * the last line end) or cut off: the caller decides by parsing it.
   */
  end(): string | null {
    this.lines(this.decoder.decode());
    if (this.line.length > 0) this.field(this.takeLine());
    return this.takeEvent();
  }

  private lines(text: string): string[] {
    const events: string[] = [];
    let from = this.afterReturn && text.startsWith('\n') ? 1 : 0;
    if (text.length > 0) this.afterReturn = text.endsWith('\r');
    const ends = /\r\n|\n|\r/g;
    ends.lastIndex = from;
    for (let end = ends.exec(text); end; end = ends.exec(text)) {
      this.line.push(text.slice(from, end.index));
      from = ends.lastIndex;
      const line = this.takeLine();
      const event = line === '' ? this.takeEvent() : this.field(line);
      if (event !== null) events.push(event);
    }
    if (from < text.length) this.line.push(text.slice(from));
    return events;
  }

  private takeLine(): string {
    const line = this.line.length === 1 ? (this.line[0] ?? '') : this.line.join('');
    this.line = [];
    return line;
  }

  private field(line: string): null {
    if (line === 'data') this.data.push('');
    else if (line.startsWith('data:')) this.data.push(line.slice(line[5] === ' ' ? 6 : 5));
    return null;
  }

  private takeEvent(): string | null {
    if (this.data.length === 0) return null;
    const event = this.data.join('\n');
    this.data = [];
    return event;
  }
}
