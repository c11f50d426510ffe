import { sequenceOf } from './position';
import { patternToRegex } from './archive-source';

test.each([
  ['12.3', 12],
  ['0', 0],
  [7, 7],
  [9_007_199_254_740_991n, Number.MAX_SAFE_INTEGER],
] as const)('the sequence of %p is %p', (position, sequence) => expect(sequenceOf(position)).toBe(sequence));

test.each(['', 'x', '1.', '-1', '1.2.3', ' 1', '9007199254740993'])(
  '%p is refused as a position',
  (position) => expect(() => sequenceOf(position)).toThrow(RangeError),
);

test.each([
  ['runyard.runs.>', 'runyard.runs.3.org.run_1', true],
  ['runyard.runs.>', 'runyard.runsx.3.org.run_1', false],
  ['runyard.*.*.org.>', 'runyard.runs.3.org.run_1', true],
  ['runyard.*.*.org.>', 'runyard.runs.3.orgs.run_1', false],
  ['runyard.runs.3.org.run_1', 'runyard.runs.3.org.run_1', true],
  ['runyard.runs.>', 'runyard.runs', false],
])('pattern %p on %p', (pattern, subject, match) =>
  expect(new RegExp(patternToRegex(pattern)).test(subject)).toBe(match),
);
