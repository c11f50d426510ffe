import { statementName } from './statement-names';

test('a statement has one name, another one another, and texts beyond number none, so that no connection fills up', () => {
  const first = statementName('SELECT 1');
  expect(statementName('SELECT 1')).toBe(first);
  expect(statementName('SELECT 2')).not.toBe(first);
  const names = Array.from({ length: 1_000 }, (_, i) => statementName(`SELECT ${i} AS many`));
  expect(names.filter((name) => name !== undefined).length).toBeLessThan(500);
  expect(names.at(-1)).toBeUndefined();
  expect(statementName('SELECT 1')).toBe(first);
});
