import { decodeCursor, pageOf } from './pages';
import type { KeyKind } from './pages';

const ROWS = ['a', 'ä', '😀', 'z'].map((name, id) => ({ name, id }));
const keyOf = ({ name, id }: { name: string; id: number }) => [name, id];

describe('a page of a list', () => {
  it('ends with a cursor that leads to the next one, whatever letters the key has', () => {
    const { data, next_cursor } = pageOf(ROWS, 3, keyOf);
    expect(data).toEqual(ROWS.slice(0, 3));
    expect(decodeCursor(next_cursor ?? undefined, ['text', 'integer'])).toEqual(['😀', 2]);
  });

  it('has no cursor where nothing follows', () => {
    expect(pageOf(ROWS.slice(0, 3), 3, keyOf).next_cursor).toBeNull();
    expect(pageOf([], 3, keyOf)).toEqual({ data: [], next_cursor: null });
    expect(decodeCursor(undefined, ['text'])).toBeUndefined();
  });

  it.each([
    ['rubbish', '%%%'],
    ['no list', btoa('{"a":1}')],
    ['of another length', btoa(encodeURIComponent('["a"]'))],
    ['of other kinds', btoa(encodeURIComponent('["a",null]'))],
  ])('refuses a cursor that is %s', (_name, cursor) => {
    expect(() => decodeCursor(cursor, ['text', 'text'])).toThrow(
      expect.objectContaining({
        code: 'invalid_cursor',
        facts: { errors: [expect.objectContaining({ pointer: '/cursor' })] },
      }),
    );
  });

  const KEYS: [KeyKind, unknown[], unknown[]][] = [
    ['text', ['', 'ä', '7'], [7, true, null, ['a'], 'a\0b']],
    [
      'time',
      ['2026-02-28T23:59:59.123Z', '2024-02-29T00:00:00.123456+00:00', '2026-01-01T00:00:00Z'],
      ['yesterday', '2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '0000-01-01T00:00:00Z', '2026-01-01', 0],
    ],
    ['uuid', ['0b3f2c1a-1111-4222-8333-444455556666'], ['0b3f', 7, '0b3f2c1a111142228333444455556666']],
    ['boolean', ['true', 'false'], [true, 'yes', '']],
    ['integer', [0, -1, 2_147_483_647], [2_147_483_648, 1.5, '1', null]],
    ['position', [0, Number.MAX_SAFE_INTEGER], [-1, 1e300, '1', 0.5]],
  ];
  it.each(KEYS)('takes a %s where one is expected, and nothing else', (kind, good, bad) => {
    const cursorOf = (value: unknown) => btoa(encodeURIComponent(JSON.stringify([value])));
    for (const value of good) expect(decodeCursor(cursorOf(value), [kind])).toEqual([value]);
    for (const value of bad)
      expect(() => decodeCursor(cursorOf(value), [kind])).toThrow(
        expect.objectContaining({ code: 'invalid_cursor' }),
      );
  });
});
