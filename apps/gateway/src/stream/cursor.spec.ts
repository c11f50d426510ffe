import { Problem } from '@runyard/contracts';
import { checkCursor, formatCursor, isAfter, parseCursor } from './cursor';

const codeOf = (run: () => unknown): string => {
  try {
    run();
    return 'nothing';
  } catch (error) {
    return error instanceof Problem ? error.code : String(error);
  }
};

describe('cursors', () => {
  test('come back as they were written', () => {
    const cursor = { incarnation: '1764547200123', sequence: 42, index: 3 };
    expect(parseCursor(formatCursor(cursor))).toEqual(cursor);
  });

  test('an incarnation with characters that are not for ids is written without them', () => {
    expect(formatCursor({ incarnation: '2026-11-29T22:01:07.5Z\r\nid: 7', sequence: 1, index: 0 })).toBe(
      '2026-11-29T2201075Zid7.1.0',
    );
  });

  test.each([
    'abc',
    '',
    '1',
    'a.1',
    'a.1.x',
    'a.-1.0',
    'a.01.0',
    'a.1.0 ',
    'a.1.0.0',
    'a.1e3.0',
    '>.1.0',
    `${'a'.repeat(65)}.1.0`,
    'a.9999999999999999.0',
  ])('C50 %j is no cursor: invalid_cursor (modelcontextprotocol/typescript-sdk#2809)', (text) =>
    expect(codeOf(() => parseCursor(text))).toBe('invalid_cursor'),
  );

  test('C50 a cursor of another incarnation or beyond the end has expired (modelcontextprotocol/typescript-sdk#2809)', () => {
    const stream = { lastSequence: 10, incarnation: 'new' };
    expect(codeOf(() => checkCursor({ incarnation: 'old', sequence: 3, index: 0 }, stream, '/x'))).toBe(
      'cursor_expired',
    );
    expect(codeOf(() => checkCursor({ incarnation: 'new', sequence: 11, index: 0 }, stream, '/x'))).toBe(
      'cursor_expired',
    );
    expect(codeOf(() => checkCursor({ incarnation: 'new', sequence: 10, index: 0 }, stream, '/x'))).toBe(
      'nothing',
    );
  });

  test('order is by sequence, then by index', () => {
    const cursor = { incarnation: 'a', sequence: 5, index: 1 };
    expect(isAfter({ sequence: 5, index: 1 }, cursor)).toBe(false);
    expect(isAfter({ sequence: 5, index: 2 }, cursor)).toBe(true);
    expect(isAfter({ sequence: 4, index: 9 }, cursor)).toBe(false);
    expect(isAfter({ sequence: 6, index: 0 }, cursor)).toBe(true);
    expect(isAfter({ sequence: 0, index: 0 }, undefined)).toBe(true);
  });
});
