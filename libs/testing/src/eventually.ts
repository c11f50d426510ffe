import { setTimeout as wait } from 'node:timers/promises';

type Held<T> = Exclude<T, false | null | undefined | 0 | ''>;

/**
 * Waits until a condition holds and returns what it returned. A condition that throws does not hold yet; its last error is
 * thrown after `withinMs` (default 30,000: a busy machine is slow, and only a failure waits so long).
 */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  { withinMs = 30_000, everyMs = 10 } = {},
): Promise<Held<T>> {
  const until = performance.now() + withinMs;
  for (;;) {
    let problem: unknown;
    try {
      const result = await condition();
      if (result) return result as Held<T>;
      problem = new Error(
        `The condition did not hold within ${withinMs} ms: ${condition.toString().slice(0, 200)}`,
      );
    } catch (error) {
      problem = error;
    }
    if (performance.now() >= until) throw problem;
    await wait(everyMs);
  }
}
