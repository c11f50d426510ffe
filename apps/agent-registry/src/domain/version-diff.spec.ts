import type { AgentVersionRow, DiffPart } from '@runyard/contracts';
import fc from 'fast-check';
import { diffLines } from './text-diff';
import { versionChanges } from './version-diff';

const side = (parts: DiffPart[], without: DiffPart['kind']): string =>
  parts
    .filter(({ kind }) => kind !== without)
    .flatMap(({ lines }) => lines)
    .join('\n');

test('a diff holds both texts, whole and in order', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', '', 'd'), { maxLength: 40 })
    .map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const parts = diffLines(before, after);
      expect(side(parts, 'added')).toBe(before);
      expect(side(parts, 'removed')).toBe(after);
      if (before === after) expect(parts.map(({ kind }) => kind)).toEqual(['same']);
    }),
  );
});

test('says least: what is common stays', () => {
  expect(diffLines('one\ntwo\nthree', 'one\n2\nthree\nfour')).toEqual([
    { kind: 'same', lines: ['one'] },
    { kind: 'removed', lines: ['two'] },
    { kind: 'added', lines: ['2'] },
    { kind: 'same', lines: ['three'] },
    { kind: 'added', lines: ['four'] },
  ]);
});

test('two long texts without anything in common take no time', () => {
  const long = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word}${index}`).join('\n');
  const parts = diffLines(`begin\n${long('a')}\nend`, `begin\n${long('b')}\nend`);
  expect(parts.map(({ kind, lines }) => [kind, lines.length])).toEqual([
    ['same', 1],
    ['removed', 20_000],
    ['added', 20_000],
    ['same', 1],
  ]);
});

const VERSION: AgentVersionRow = {
  agent_id: 'helper',
  agent_version: 1,
  prompt: 'Help.',
  model_id: 'fast',
  tools: ['a', 'b'],
  bounds: { max_steps: 5 },
  approval_policy: 'park',
  mode: 'ask',
  created_at: '2026-11-30T00:00:00Z',
  created_by: 'user:1',
};

test('versions differ in what their authors chose, and in nothing else', () => {
  const later = { ...VERSION, agent_version: 2, created_at: '2026-12-01T00:00:00Z', created_by: 'user:2' };
  expect(versionChanges(VERSION, later)).toEqual([]);
  const changed: AgentVersionRow = {
    ...later,
    prompt: 'Help.\nBe brief.',
    model_id: null,
    tools: ['b', 'c'],
    bounds: { token_budget: 9 },
    mode: 'auto',
  };
  expect(versionChanges(VERSION, changed)).toEqual([
    {
      field: 'prompt',
      before: 'Help.',
      after: 'Help.\nBe brief.',
      lines: [
        { kind: 'same', lines: ['Help.'] },
        { kind: 'added', lines: ['Be brief.'] },
      ],
    },
    { field: 'model_id', before: 'fast', after: null },
    { field: 'mode', before: 'ask', after: 'auto' },
    { field: 'tools', before: ['a', 'b'], after: ['b', 'c'], added: ['c'], removed: ['a'] },
    { field: 'bounds.max_steps', before: 5, after: null },
    { field: 'bounds.token_budget', before: null, after: 9 },
  ]);
});
