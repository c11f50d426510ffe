import { WrongArguments, startArguments } from './start-arguments';

test('without arguments everything is as it is described', () => {
  expect(startArguments([])).toEqual({
    processes: false,
    once: false,
    help: false,
    port: 8_080,
    folder: undefined,
  });
  expect(startArguments(['--once', '--port', '0', '--folder', 'x'])).toMatchObject({
    once: true,
    port: 0,
    folder: 'x',
  });
});

test.each([
  [['--port', 'abc'], '--port must be a whole number from 0 to 65535, not "abc"'],
  [['--port', '70000'], '--port must be'],
  [['--prot', '1'], "Unknown option '--prot'"],
  [['--folder'], "'--folder <value>' argument missing"],
  [['up'], "Unexpected argument 'up'"],
])('%j is refused in words and before anything is started', (args, words) => {
  expect(() => startArguments(args)).toThrow(WrongArguments);
  expect(() => startArguments(args)).toThrow(words);
});
