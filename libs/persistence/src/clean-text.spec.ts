import fc from 'fast-check';
import { cleanJson, cleanText, restoreJson, restoreText } from './clean-text';

test('well-formed text stays the very same, also the six characters of an escape', () => {
  for (const text of ['', 'plain', 'C:\\u0000dir', '😀 � ￿', '\u2028\u0001'])
    expect(cleanText(text)).toBe(text);
});

test('what Postgres refuses is marked visibly and comes back exactly', () => {
  expect(cleanText('x\0y')).toBe('x\uFFFD\uFDD00000y');
  expect(cleanText('\ud83d')).toBe('\uFFFD\uFDD0d83d');
  for (const text of [
    'x\0y',
    '\ud83d',
    '\udfe1\ud83d',
    '\uFDD0',
    '\uFFFD\uFDD00000',
    '\0\uFFFD\uFDD0d83d😀\ud83d',
  ])
    expect(restoreText(cleanText(text))).toBe(text);
});

test('any text of UTF-16 units is reversible, and its cleaned form is taken', () => {
  const units = fc.array(
    fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0, 0xd83d, 0xdfe1, 0xfdd0, 0xfffd, 0x30)),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(units, (codes) => {
      const text = String.fromCharCode(...codes);
      const cleaned = cleanText(text);
      return !/\0|\p{Surrogate}/u.test(cleaned) && restoreText(cleaned) === text;
    }),
    { numRuns: 10_000 },
  );
});

test('JSON is cleaned in values and keys, at every depth; without need the same object comes back', () => {
  const clean = { a: [1, 'b', null, { c: true }] };
  expect(cleanJson(clean)).toBe(clean);
  const refused = { 'k\0': [{ v: '\ud83d', n: 1 }, 'ok'], ['__proto__']: 'x' };
  const cleaned = cleanJson(refused);
  expect(JSON.stringify(cleaned)).not.toMatch(/\\u0000|\\ud83d/);
  expect(restoreJson(cleaned)).toEqual(refused);
  expect(Object.keys(restoreJson(cleaned) as object)).toContain('k\0');
});
