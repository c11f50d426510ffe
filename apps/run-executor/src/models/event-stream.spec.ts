import { EventStream } from './event-stream';

const events = (...chunks: Uint8Array[]): string[] => {
  const stream = new EventStream();
  const complete = chunks.flatMap((chunk) => stream.push(chunk));
  const rest = stream.end();
  return rest === null ? complete : [...complete, rest];
};

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe('C53 an event stream reads the same however its bytes are cut (musistudio/claude-code-router#1672)', () => {
  const body =
    '\ufeffdata: {"t":"北京"}\r\n\r\n: a comment\r\ndata:{"t":"🌍🌍"}\n\nevent: x\rdata: line 1\rdata: line 2\r\r' +
    `data: ${JSON.stringify({ long: 'é北🌍'.repeat(400) })}\r\n\r\ndata\n\nid: 4\nretry: 9\n\ndata: [DONE]\n\n`;
  const whole = events(bytes(body));

  it('gives every event once', () => {
    expect(whole).toHaveLength(6);
    expect(whole.slice(0, 3)).toEqual(['{"t":"北京"}', '{"t":"🌍🌍"}', 'line 1\nline 2']);
    expect(whole.slice(4)).toEqual(['', '[DONE]']);
  });

  it('at every single byte position', () => {
    const all = bytes(body);
    for (let at = 0; at <= all.length; at++)
      expect(events(all.subarray(0, at), all.subarray(at))).toEqual(whole);
  });

  it('byte by byte', () => {
    expect(events(...[...bytes(body)].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
  });
});

it('reads an event of 300 kB over 200 chunks', () => {
  const text = JSON.stringify('北'.repeat(100_000));
  const all = bytes(`data: ${text}\n\n`);
  const size = Math.ceil(all.length / 200);
  const chunks = Array.from({ length: 200 }, (_, i) => all.subarray(i * size, (i + 1) * size));
  expect(events(...chunks)).toEqual([text]);
});

it('hands out the rest of a stream that ends without a blank line', () => {
  expect(events(bytes('data: 1\n\ndata: {"cut":'))).toEqual(['1', '{"cut":']);
  expect(events(bytes(''))).toEqual([]);
});
