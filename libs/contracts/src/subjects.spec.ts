import fc from 'fast-check';
import type { Context } from './subjects';
import {
  CONTEXT_STREAMS,
  SLOTS,
  deadSubject,
  parseSubject,
  requestSubject,
  slotOf,
  subjectOf,
  workSubject,
} from './subjects';
import { InvalidToken, TOKEN, token } from './token';

const CONTEXTS = Object.keys(CONTEXT_STREAMS) as Context[];
const NASTY = [
  't1.>',
  '*',
  '>',
  'a.b',
  'a b',
  'a\r\nb',
  '\r\n',
  '',
  'x'.repeat(81),
  'x'.repeat(300),
  'ü',
  '٣',
  'a\u0000',
  ' a',
  'a ',
  '$JS',
  '../x',
  'a\tb',
];

/** Any text, with a bias to what is dangerous in a subject. */
const anyId = fc.oneof(
  fc.constantFrom(...NASTY),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
    .map((units) => String.fromCharCode(...units)),
  fc
    .array(fc.constantFrom('a', '.', '*', '>', ' ', '\r', '\n', '\t', '$', '_', '-', '9'), { maxLength: 10 })
    .map((parts) => parts.join('')),
);

const builders: [string, number, (org: string, id: string) => string][] = [
  ...CONTEXTS.map((context): [string, number, (org: string, id: string) => string] => [
    context,
    5,
    (org, id) => subjectOf(context, org, id),
  ]),
  ['requests', 3, (org) => requestSubject(org)],
  ['work', 5, (org, id) => workSubject(org, id)],
  ['dead', 4, (org, id) => deadSubject(org, id)],
];

describe('C65 no id widens, shifts or breaks a subject (rchiofalo/rustgate#616)', () => {
  it.each(builders)(
    '%s: a built subject has %i tokens and no wildcard, whatever the ids',
    (_name, tokens, build) => {
      fc.assert(
        fc.property(anyId, anyId, (org, id) => {
          let subject: string;
          try {
            subject = build(org, id);
          } catch (error) {
            return error instanceof InvalidToken;
          }
          return subject.split('.').length === tokens && /^[A-Za-z0-9_.-]+$/.test(subject);
        }),
        { numRuns: 2_000 },
      );
    },
  );

  it.each(NASTY)('refuses %j, naming the field and not the value', (nasty) => {
    for (const build of [
      () => subjectOf('runs', nasty, 'r1'),
      () => subjectOf('runs', 'acme', nasty),
      () => requestSubject(nasty),
      () => workSubject('acme', nasty),
    ])
      expect(build).toThrow(InvalidToken);
    expect(() => token('run id', nasty)).toThrow(/^run id must be 1 to 80 characters/);
  });

  it('keeps upper and lower case apart', () => {
    expect(subjectOf('runs', 'Acme', 'R1')).not.toBe(subjectOf('runs', 'acme', 'R1'));
    expect(parseSubject(subjectOf('runs', 'Acme', 'R1'))?.org).toBe('Acme');
  });
});

describe('subjects', () => {
  const id = fc.stringMatching(TOKEN);

  it('are read back as they were built', () => {
    fc.assert(
      fc.property(fc.constantFrom(...CONTEXTS), id, id, (context, org, aggregate) => {
        expect(parseSubject(subjectOf(context, org, aggregate))).toEqual({ context, org, id: aggregate });
      }),
    );
  });

  it.each([
    '',
    'runyard',
    'runyard.runs.0.acme',
    'runyard.runs.0.acme.*',
    'runyard.runs.>',
    'other.runs.3.acme.r1',
    'runyard.toString.0.acme.r1',
  ])('that nobody built are not read: %j', (subject) => {
    expect(parseSubject(subject)).toBeUndefined();
  });

  it('of another slot are not read', () => {
    const subject = subjectOf('runs', 'acme', 'r1');
    const [, , slot] = subject.split('.');
    expect(parseSubject(subject.replace(`.${slot}.`, `.${(Number(slot) + 1) % SLOTS}.`))).toBeUndefined();
    expect(parseSubject(`${subject}.x`)).toBeUndefined();
  });

  it('keep the slots that lie on disk', () => {
    expect(
      Object.fromEntries(['r1', 'run_0', 'org', 'models', 'a', ''].map((name) => [name, slotOf(name)])),
    ).toEqual(SLOTS_ON_DISK);
  });

  it('spread ids over all slots', () => {
    const counts = Array.from({ length: SLOTS }, () => 0);
    for (let i = 0; i < 16_000; i++) counts[slotOf(`run_${i}`)]!++;
    expect(Math.min(...counts)).toBeGreaterThan(700);
    expect(Math.max(...counts)).toBeLessThan(1_300);
  });
});

/** A disk format: a change here makes every stored aggregate unreadable. */
const SLOTS_ON_DISK = { r1: 12, run_0: 13, org: 9, models: 11, a: 12, '': 5 };
