import fc from 'fast-check';
import { digestOf } from '@runyard/event-log';
import type { JsonObject, ToolDefinition } from '@runyard/contracts';
import { MAX_ARGUMENT_BYTES, parseArguments } from './arguments';

const isWellFormed = (text: string): boolean => {
  try {
    return encodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
};

const tool = (inputSchema: JsonObject): ToolDefinition => ({
  name: 'edit',
  description: '',
  inputSchema,
  effect: 'write',
  idempotent: false,
  source: { kind: 'builtin', name: 'edit' },
  timeoutMs: 1_000,
  endsRun: false,
});

const anything = tool({ type: 'object' });
const edits = tool({
  type: 'object',
  properties: {
    path: { type: 'string' },
    content: { type: 'string' },
    edits: {
      type: 'array',
      items: { type: 'object', properties: { old: { type: 'string' } }, required: ['old'] },
    },
    maxBytes: { type: 'integer' },
    mode: { enum: ['fast', 'slow'] },
    note: { anyOf: [{ type: 'string' }, { type: 'boolean' }] },
  },
  required: ['path'],
  additionalProperties: false,
});

const refusal = (raw: string, of = edits) => {
  const parsed = parseArguments(raw, of);
  if (parsed.ok) throw new Error('was accepted');
  return parsed;
};

describe('C17 empty arguments mean {} and broken ones become an error for the model (openai/openai-agents-js#664)', () => {
  it.each([
    ['empty', ''],
    ['blank', '  \n'],
    ['missing', undefined],
    ['null', null],
    ['an object', '{}'],
  ])('%s', (_, raw) => {
    expect(parseArguments(raw, anything)).toEqual({ ok: true, value: {}, digest: digestOf({}) });
  });

  it('broken', () => {
    expect(refusal('{"q"', anything)).toMatchObject({ code: 'truncated_arguments' });
    expect(refusal('{"q": tru}', anything)).toMatchObject({ code: 'invalid_arguments' });
    expect(refusal('{"q":1} and more', anything).text).toContain('not valid JSON');
  });

  it('a required field is still required of an empty text', () => {
    expect(refusal('').text).toContain('- /path: required, but missing (string)');
  });
});

describe('C25 a call that was cut off is never executed (LibreChat-AI/agents#280)', () => {
  const cut = '{"path":"a/b.md","content":"# Ti';

  it('told by the finish reason', () => {
    expect(parseArguments(cut, edits, true)).toMatchObject({ ok: false, code: 'truncated_arguments' });
  });
  it('a router rewrote the finish reason', () => {
    expect(refusal(cut)).toMatchObject({ code: 'truncated_arguments' });
    expect(refusal(cut).text).toContain('Send less');
  });
  it('somebody closed the brackets', () => {
    expect(parseArguments('{"path":"a/b.md"}', edits, true)).toMatchObject({
      ok: false,
      code: 'truncated_arguments',
    });
  });
  it('not even what is empty', () => {
    expect(parseArguments('', anything, true)).toMatchObject({ ok: false, code: 'truncated_arguments' });
  });
  it('no beginning of a call is taken for the whole', () => {
    const whole = '{"path":"a/\\"b\\\\.md","edits":[{"old":"x"}],"maxBytes":12}';
    for (let end = 1; end < whole.length; end += 1) {
      expect(refusal(whole.slice(0, end)).code).toBe('truncated_arguments');
    }
    expect(parseArguments(whole, edits).ok).toBe(true);
  });
});

describe('C30 refusals name the field, the expected kind and what came, and are equal for equal faults (anomalyco/opencode#8249)', () => {
  it.each([
    [
      '{"path":"a","edits":"[{\\"old\\":\\"a\\"}]"}',
      '- /edits: expected array, got string "[{\\"old\\":\\"a\\"}]"; send the array itself, not a string that holds it',
    ],
    [
      '{"path":"a","maxBytes":"200000"}',
      '- /maxBytes: expected integer, got string "200000"; send the number itself',
    ],
    ['{"path":"a","maxBytes":null}', '- /maxBytes: expected integer, got null; leave an optional field out'],
    [
      '{"path":"a","pth":1}',
      '- /pth: unknown field; leave it out (known: path, content, edits, maxBytes, mode, note)',
    ],
    ['{"path":"a","mode":"quick"}', '- /mode: expected one of ["fast","slow"], got string "quick"'],
    ['{"path":"a","edits":[{"old":"x"},{}]}', '- /edits/1/old: required, but missing (string)'],
    ['{"path":"a","note":3}', '- /note: expected string or boolean, got number 3'],
    ['[1]', 'must be one JSON object, not an array'],
    ['"path"', 'must be one JSON object, not a string'],
    ['null', 'must be one JSON object, not null'],
    ['{"path":"a","maxBytes":1e999}', 'number'],
  ])('%s', (raw, text) => {
    const first = refusal(raw);
    expect(first.code).toBe('invalid_arguments');
    expect(first.text).toContain(text);
    expect(refusal(raw)).toEqual(first);
  });

  it('nothing is repaired: the digest is of the very value that the tool gets', () => {
    const parsed = parseArguments('{"b":1,"a":{"y":"2","x":[1.0]}}', anything);
    expect(parsed).toEqual({
      ok: true,
      value: { a: { x: [1], y: '2' }, b: 1 },
      digest: digestOf({ a: { x: [1], y: '2' }, b: 1 }),
    });
  });

  it('extra fields are allowed where the schema allows them', () => {
    expect(parseArguments('{"q":1}', tool({ type: 'object', properties: {} })).ok).toBe(true);
  });

  it('many faults are told in a few lines', () => {
    const wide = tool({ type: 'object', additionalProperties: { type: 'string' } });
    const raw = JSON.stringify(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, i])));
    expect(refusal(raw, wide).text.split('\n')).toHaveLength(7);
    expect(refusal(raw, wide).text).toContain('and 45 more');
  });
});

describe('schemas', () => {
  it.each([
    [
      'draft-07 with a tuple',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { p: { type: 'array', items: [{ type: 'number' }] } },
      },
      '{"p":["x"]}',
    ],
    [
      'a tuple without a dialect',
      { type: 'object', properties: { p: { type: 'array', items: [{ type: 'number' }] } } },
      '{"p":["x"]}',
    ],
    [
      '2020-12',
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { p: { prefixItems: [{ type: 'number' }] } },
      },
      '{"p":["x"]}',
    ],
    [
      '2019-09',
      {
        $schema: 'https://json-schema.org/draft/2019-09/schema',
        type: 'object',
        properties: { p: { type: 'number' } },
      },
      '{"p":"x"}',
    ],
    [
      'an unknown dialect',
      { $schema: 'https://example.com/mine', type: 'object', properties: { p: { type: 'number' } } },
      '{"p":"x"}',
    ],
    [
      'its own keywords and formats',
      { type: 'object', 'x-order': 1, properties: { p: { type: 'number', format: 'money' } } },
      '{"p":"x"}',
    ],
    [
      'definitions',
      { type: 'object', properties: { p: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'number' } } },
      '{"p":"x"}',
    ],
  ])('%s', (_, schema, wrong) => {
    expect(refusal(wrong, tool(schema)).code).toBe('invalid_arguments');
    expect(parseArguments('{}', tool(schema)).ok).toBe(true);
  });

  it.each([
    ['no schema at all', { type: 'objekt' }],
    ['a reference into nowhere', { type: 'object', properties: { a: { $ref: '#/nowhere' } } }],
    ['a reference to a stranger', { $ref: 'https://example.com/schema.json' }],
    ['a broken pattern', { type: 'object', properties: { a: { pattern: '(' } } }],
    ['a schema without end', { $ref: '#' }],
  ])("%s is the deployment's fault, not the model's", (_, schema) => {
    const parsed = parseArguments('{"a":"x"}', tool(schema));
    expect(parsed).toMatchObject({ ok: false, code: 'misconfigured' });
    if (!parsed.ok) expect(parsed.text).toContain('not your fault');
  });

  it('two tools may use one $id inside', () => {
    const named = (type: string) =>
      tool({ type: 'object', properties: { a: { $id: 'https://example.com/part', type } } });
    expect(parseArguments('{"a":"x"}', named('string')).ok).toBe(true);
    expect(parseArguments('{"a":"x"}', named('number')).ok).toBe(false);
  });

  it('two tools may use one $id', () => {
    const named = (type: string) =>
      tool({ $id: 'https://example.com/args', type: 'object', properties: { a: { type } } });
    expect(parseArguments('{"a":"x"}', named('string')).ok).toBe(true);
    expect(parseArguments('{"a":"x"}', named('number')).ok).toBe(false);
  });
});

describe('nothing in arguments breaks anything', () => {
  it('NUL, lone surrogates and odd keys pass as values', () => {
    const parsed = parseArguments(
      '{"a":"x\\u0000y","\\ud83d":"\\udfe1\\ud83d","__proto__":{"z":1},"constructor":2}',
      anything,
    );
    expect(parsed).toMatchObject({ ok: true, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(({} as JsonObject)['z']).toBeUndefined();
  });

  it('refusals are well formed and hold no more than a preview', () => {
    const { text } = refusal(`{"path":{"\\ud83d":"${'🟡'.repeat(500)}"},"\\udfe1":1}`);
    expect(isWellFormed(text)).toBe(true);
    expect(text.length).toBeLessThan(600);
  });

  it('size and depth are bounded', () => {
    expect(refusal(`{"path":"${'x'.repeat(MAX_ARGUMENT_BYTES)}"}`).text).toContain('longer than');
    expect(refusal(`{"path":${'['.repeat(50_000)}${']'.repeat(50_000)}}`).text).toContain('nested deeper');
  });

  it('any text is answered', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ':',
      ',',
      '"path"',
      '"edits"',
      '1',
      'null',
      '\ud83d',
      '\0',
      'x',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const parsed = parseArguments(pieces.join(''), edits);
        if (!parsed.ok) expect(isWellFormed(parsed.text)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });
});
