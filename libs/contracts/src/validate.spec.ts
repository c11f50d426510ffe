import { z } from 'zod';
import { PROBLEMS, Problem, parseWith, runRequestSchema, startRunSchema } from './index';

function refusal(work: () => unknown): Problem {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('It was not refused');
}

describe('parseWith', () => {
  const schema = z.strictObject({
    name: z.string('must be a text'),
    list: z.array(z.strictObject({ 'a/b': z.int('must be a whole number') })).optional(),
  });

  it('gives the parsed value with its defaults', () => {
    expect(
      parseWith(runRequestSchema, { agent_id: 'a', input: 'x', key: 'k', requested_by: 'user:u1' }),
    ).toMatchObject({ trigger: 'requested' });
  });

  it('names every offending field by JSON pointer and what it should be', () => {
    const problem = refusal(() =>
      parseWith(schema, { name: 1, list: [{ 'a/b': 1 }, { 'a/b': 1.5 }], extra: 1, other: 2 }, 'agent'),
    );
    expect(problem).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('The agent is not valid') as string,
    });
    expect(problem.facts.errors).toEqual(
      expect.arrayContaining([
        { pointer: '/name', detail: 'must be a text' },
        { pointer: '/list/1/a~1b', detail: 'must be a whole number' },
        { pointer: '/extra', detail: 'is not a known field; remove it' },
        { pointer: '/other', detail: 'is not a known field; remove it' },
      ]),
    );
    expect(problem.facts.errors).toHaveLength(4);
  });

  it('says in words what a field should be where its schema has none', () => {
    const plain = z.strictObject({
      text: z.string(),
      short: z.string().max(2),
      list: z.array(z.int()).min(1),
      of: z.enum(['a', 'b']),
      meta: z.record(z.string(), z.number()),
      flag: z.boolean(),
      either: z.union([z.string(), z.int()]),
    });
    const said = (value: object) =>
      refusal(() => parseWith(plain, value)).facts.errors?.map(
        ({ pointer, detail }) => `${pointer} ${detail}`,
      );
    expect(said({})).toEqual(
      ['text', 'short', 'list', 'of', 'meta', 'flag', 'either'].map((field) =>
        field === 'of' ? '/of must be one of a, b' : `/${field} is required`,
      ),
    );
    expect(said({ text: null, short: 'xxx', list: [], of: 'c', meta: [], flag: 'no', either: true })).toEqual(
      [
        '/text must be a text',
        '/short must be at most 2 characters',
        '/list must be at least 1 entries',
        '/of must be one of a, b',
        '/meta must be an object',
        '/flag must be true or false',
        '/either has none of the forms that are allowed here',
      ],
    );
  });

  it.each([undefined, null, 1, 'x', []])('refuses %j as a whole', (value) => {
    expect(refusal(() => parseWith(schema, value)).facts.errors?.[0]?.pointer).toBe('/');
  });
});

describe('a start of a run', () => {
  const start = { agent_id: 'support', input: 'hello' };

  it.each([
    ['agent_id', 'a.b'],
    ['agent_id', '*'],
    ['agent_id', ''],
    ['input', ''],
    ['conversation_id', 'x y'],
    ['mode', 'yolo'],
    ['bounds', { max_steps: 0 }],
    ['bounds', { max_steps: 1.5 }],
    ['bounds', { token_budget: 2_000_000_001 }],
    ['bounds', { max_stepz: 1 }],
  ])('is refused with %s = %j, and the field is named', (field, value) => {
    const problem = refusal(() => parseWith(startRunSchema, { ...start, [field]: value }));
    expect(problem.facts.errors?.[0]?.pointer.startsWith(`/${field}`)).toBe(true);
  });

  it('is refused on the bus with an actor that is none', () => {
    for (const requested_by of ['u1', 'user:', 'user:a.b', 'root:x', 'user:a\n'])
      expect(
        refusal(() => parseWith(runRequestSchema, { ...start, key: 'k', requested_by })).facts.errors?.[0]
          ?.pointer,
      ).toBe('/requested_by');
  });
});

it('gives every problem a status of the 4xx or 5xx', () => {
  for (const status of Object.values(PROBLEMS)) expect(status).toBeGreaterThanOrEqual(400);
});
