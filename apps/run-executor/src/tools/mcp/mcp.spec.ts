import { commandAllowed, forbiddenVariable, type StdioServer } from './allow-list';
import { resultOf } from './content';
import { type LongLine, MessageLines } from './message-lines';

const server = (command: string, ...args: string[]): StdioServer => ({
  name: 's',
  transport: 'stdio',
  command,
  args,
});

describe('commands are on the list, or are not started', () => {
  it.each([
    [['node server.mjs'], server('node', 'server.mjs'), true],
    [['node server.mjs'], server('node', 'server.mjs', '--inspect'), false],
    [['node server.mjs'], server('node', 'other.mjs'), false],
    [['node server.mjs'], server('node'), false],
    [['node server.mjs *'], server('node', 'server.mjs', '--port', '1'), true],
    [['node server.mjs *'], server('node', 'server.mjs'), true],
    [['node server.mjs *'], server('node', '--require', 'x', 'server.mjs'), false],
    [[['/opt/my tools/run', 'a b']], server('/opt/my tools/run', 'a b'), true],
    [[['/opt/run', 'a b']], server('/opt/run', 'a', 'b'), false],
    [['*'], server('node'), false],
    [['node'], server('/usr/bin/node'), false],
    [[], server('node'), false],
  ])('%j and %j: %s', (allowed, wanted, expected) => {
    expect(commandAllowed(wanted, allowed)).toBe(expected);
  });

  it.each(['NODE_OPTIONS', 'LD_PRELOAD', 'PATH', 'PYTHONPATH', 'BASH_ENV', 'A=B', ''])(
    '%j may not be set',
    (name) => {
      expect(forbiddenVariable({ ...server('node'), env: { OK: '1', [name]: 'x' } })).toBe(name);
    },
  );
  it('others may', () => {
    expect(
      forbiddenVariable({ ...server('node'), env: { API_KEY: 'secret:stock', LOG_LEVEL: 'info' } }),
    ).toBeUndefined();
    expect(forbiddenVariable(server('node'))).toBeUndefined();
  });
});

describe('lines of a byte stream', () => {
  const split = (limit: number, ...chunks: string[]) => {
    const found: (string | LongLine)[] = [];
    const lines = new MessageLines(
      limit,
      (line) => found.push(line),
      (line) => found.push(line),
    );
    for (const chunk of chunks) lines.push(Buffer.from(chunk));
    return found;
  };
  it('come whole, however they were cut', () => {
    expect(split(100, 'a\nb', 'c', '\r\n', '\n🟡'.slice(0, 1), '🟡\nrest')).toEqual(['a', 'bc', '', '🟡']);
  });
  it('keep bytes of one character together', () => {
    const bytes = Buffer.from('🟡\n');
    const found: string[] = [];
    const lines = new MessageLines(
      100,
      (line) => found.push(line),
      () => {},
    );
    for (const byte of bytes) lines.push(Buffer.from([byte]));
    expect(found).toEqual(['🟡']);
  });
  it('that are too long are told by their ends, and the next one is read', () => {
    const [long, next] = split(10, '{"id":7,', 'x'.repeat(2_000), '}\nnext\n');
    expect(long).toMatchObject({
      start: expect.stringMatching(/^\{"id":7,/),
      end: expect.stringMatching(/x\}$/),
    });
    expect(next).toBe('next');
  });
});

describe('answers as text', () => {
  it.each([
    [
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      'a\nb',
    ],
    [
      { content: [{ type: 'image', mimeType: 'image/png', data: Buffer.alloc(100).toString('base64') }] },
      '[image image/png, 100 bytes, not shown]',
    ],
    [
      { content: [{ type: 'resource', resource: { uri: 'f://a', text: 'hello' } }] },
      '[resource f://a]\nhello',
    ],
    [
      { content: [{ type: 'resource', resource: { uri: 'f://a', mimeType: 'x/y', blob: 'AAAA' } }] },
      '[resource f://a, x/y, 3 bytes, not shown]',
    ],
    [{ content: [{ type: 'resource_link', uri: 'f://a', name: 'A' }] }, '[link to resource A f://a]'],
    [
      { content: [{ type: 'hologram' }, null, 3] },
      '[content of kind "hologram", not shown]\n[content of kind null, not shown]\n[content of kind null, not shown]',
    ],
    [{ structuredContent: { n: 1 } }, '{"n":1}'],
    [
      { content: [{ type: 'text', text: '{ "b": 2, "n": 1 }' }], structuredContent: { n: 1, b: 2 } },
      '{ "b": 2, "n": 1 }',
    ],
    [{ content: [{ type: 'text', text: 'one' }], structuredContent: { n: 1 } }, 'one\n{"n":1}'],
    [{}, '(no content)'],
  ])('%j', (answer, text) => {
    expect(resultOf(answer)).toEqual({ ok: true, text });
  });
  it("isError is the tool's own error", () => {
    expect(resultOf({ isError: true, content: [{ type: 'text', text: 'no' }] })).toMatchObject({
      ok: false,
      code: 'tool_error',
      effect: 'none',
      text: 'no',
    });
  });
  it('lone surrogates are replaced', () => {
    expect(resultOf({ content: [{ type: 'text', text: '\ud83d' }] })).toEqual({ ok: true, text: '\ufffd' });
  });
});
