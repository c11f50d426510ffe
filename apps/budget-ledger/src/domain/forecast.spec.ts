import { forecast } from './forecast';

const DAY = 86_400_000;

it('goes on with the mean of the last seven days', () => {
  const at = { now: 0, ends: 3 * DAY, settled: 400, lately: 700, cap: null };
  expect(forecast(at)).toEqual({ tokensPerDay: 100, expected: 700, capReachedAt: null });
  expect(forecast({ ...at, cap: 500 }).capReachedAt).toBe(DAY);
  expect(forecast({ ...at, cap: 700 }).capReachedAt).toBeNull();
  expect(forecast({ ...at, cap: 400 }).capReachedAt).toBe(0);
  expect(forecast({ ...at, lately: 0, cap: 500 })).toEqual({
    tokensPerDay: 0,
    expected: 400,
    capReachedAt: null,
  });
});
