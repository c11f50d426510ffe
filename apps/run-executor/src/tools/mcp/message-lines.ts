/** A line that was longer than the limit: its beginning and its end, where a JSON-RPC message carries its id. */
export interface LongLine {
  start: string;
  end: string;
}

const KEPT = 512;

/**
 * Splits a byte stream into lines of at most `limit` bytes. Longer ones are dropped as they come and reported by their
 * ends: one giant answer must neither eat the memory nor end the other calls of the session.
 */
export class MessageLines {
  private parts: Buffer[] = [];
  private size = 0;
  private long: { start: string; end: Buffer } | undefined;

  constructor(
    private readonly limit: number,
    private readonly onLine: (line: string) => void,
    private readonly onLongLine: (line: LongLine) => void,
  ) {}

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.take(chunk.subarray(from, end));
      this.finish();
      from = end + 1;
    }
    this.take(chunk.subarray(from));
  }

  private take(part: Buffer): void {
    if (part.length === 0) return;
    this.size += part.length;
    if (this.long) {
      this.long.end = Buffer.concat([this.long.end, part]).subarray(-KEPT);
      return;
    }
    this.parts.push(part);
    if (this.size <= this.limit) return;
    const whole = Buffer.concat(this.parts);
    this.long = { start: whole.toString('utf8', 0, KEPT), end: whole.subarray(-KEPT) };
    this.parts = [];
  }

  private finish(): void {
    const { long, parts } = this;
    [this.parts, this.size, this.long] = [[], 0, undefined];
    if (long) this.onLongLine({ start: long.start, end: long.end.toString('utf8') });
    else this.onLine(Buffer.concat(parts).toString('utf8').replace(/\r$/, ''));
  }
}
