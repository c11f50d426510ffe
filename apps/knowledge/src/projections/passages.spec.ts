import fc from 'fast-check';
import { passagesOf } from './passages';

test('passages are the whole text in order, none too long, no pair parted', () => {
  const unit = fc.oneof(
    fc.constantFrom('word ', 'line\n', '\n\n', 'end. ', '😀', '字'),
    fc.string({ maxLength: 40 }),
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 600 }), (units) => {
      const text = units.join('').replaceAll(/\p{Surrogate}/gu, '');
      const passages = passagesOf(text);
      expect(passages.map((passage) => passage.text).join('')).toBe(text);
      let start = 0;
      for (const passage of passages) {
        expect(passage.start).toBe(start);
        expect(passage.text.length).toBeLessThanOrEqual(1_800);
        expect(passage.text).not.toMatch(/\p{Surrogate}/u);
        start += passage.text.length;
      }
    }),
    { numRuns: 50 },
  );
});

test('parts at a paragraph where there is one', () => {
  const paragraph = `${'x'.repeat(1_000)}.\n\n`;
  expect(passagesOf(paragraph.repeat(3)).map(({ text }) => text)).toEqual([paragraph, paragraph, paragraph]);
});

test('a text without a break is parted all the same', () => {
  expect(passagesOf('y'.repeat(4_000)).map(({ text }) => text.length)).toEqual([1_800, 1_800, 400]);
  expect(passagesOf('')).toEqual([]);
});
