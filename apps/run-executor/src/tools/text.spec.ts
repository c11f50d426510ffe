import fc from 'fast-check';
import { head, shorten, SHOWN_BYTES, wellFormed } from './text';

const isWellFormed = (text: string): boolean => {
  try {
    return encodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
};

describe('C27 long results are cut on code points and marked (mksglu/context-mode#659)', () => {
  const result = `${'a'.repeat(3_071)}🟡 ok`;

  it.each([3_068, 3_069, 3_070, 3_071, 3_072, 3_073, 3_074, 3_075, 3_076])('limit %i', (limit) => {
    const { text, cut } = shorten(result, limit);
    expect(isWellFormed(text)).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limit);
    expect(cut).toBe(true);
    expect(text).toMatch(/bytes are left out here; the whole text is stored with the run\]$/);
  });

  it('what fits is left alone', () => {
    expect(shorten(result, 3_078)).toEqual({ text: result, cut: false });
    expect(shorten('')).toEqual({ text: '', cut: false });
  });

  it('the note says how much is left out', () => {
    const { text } = shorten('b'.repeat(100_000));
    const [, left, of] = /\[cut: (\d+) of (\d+) bytes/.exec(text) ?? [];
    expect(Number(of)).toBe(100_000);
    expect(text.indexOf('\n') + Number(left)).toBe(100_000);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(SHOWN_BYTES);
  });

  it('12 MB on one line', () => {
    const { text } = shorten('🟡'.repeat(3 * 1024 * 1024));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(SHOWN_BYTES);
    expect(isWellFormed(text)).toBe(true);
  });

  it('any text at any limit', () => {
    const unit = fc.constantFrom('a', 'é', '漢', '🟡', '👩‍👩‍👧', '\ud83d', '\udfe1', '\0', '\n');
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 200 }), fc.nat({ max: 700 }), (units, limit) => {
        const { text, cut } = shorten(units.join(''), limit);
        expect(isWellFormed(text)).toBe(true);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limit);
        expect(cut).toBe(Buffer.byteLength(wellFormed(units.join(''))) > limit);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('wellFormed', () => {
  it.each([
    ['\ud83d', '\ufffd'],
    ['\udfe1\ud83d', '\ufffd\ufffd'],
    ['a\ud83db', 'a\ufffdb'],
    ['🟡\ud83d🟡', '🟡\ufffd🟡'],
    ['x\u0000y', 'x\u0000y'],
    ['C:\\u0000dir', 'C:\\u0000dir'],
  ])('%j becomes %j', (text, expected) => {
    expect(wellFormed(text)).toBe(expected);
    expect(isWellFormed(wellFormed(text))).toBe(true);
  });
});

it('head never ends inside a code point', () => {
  expect(head('a🟡b', 4)).toBe('a');
  expect(head('a🟡b', 5)).toBe('a🟡');
  expect(head('ab', 5)).toBe('ab');
});
