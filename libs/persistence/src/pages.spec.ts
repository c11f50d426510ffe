import { decodeCursor, pageOf } from './pages';

const ROWS = ['a', 'ä', '😀', 'z'].map((name, id) => ({ name, id }));
const keyOf = ({ name, id }: { name: string; id: number }) => [name, id];

describe('a page of a list', () => {
  it('ends with a cursor that leads to the next one, whatever letters the key has', () => {
    const { data, next_cursor } = pageOf(ROWS, 3, keyOf);
    expect(data).toEqual(ROWS.slice(0, 3));
    expect(decodeCursor(next_cursor ?? undefined, 2)).toEqual(['😀', 2]);
  });

  it('has no cursor where nothing follows', () => {
    expect(pageOf(ROWS.slice(0, 3), 3, keyOf).next_cursor).toBeNull();
    expect(pageOf([], 3, keyOf)).toEqual({ data: [], next_cursor: null });
    expect(decodeCursor(undefined, 2)).toBeUndefined();
  });

  it.each([
    ['rubbish', '%%%'],
    ['no list', btoa('{"a":1}')],
    ['of another length', btoa(encodeURIComponent('["a"]'))],
    ['of other kinds', btoa(encodeURIComponent('["a",null]'))],
  ])('refuses a cursor that is %s', (_name, cursor) => {
    expect(() => decodeCursor(cursor, 2)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }));
  });
});
