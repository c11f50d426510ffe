import type { NatsConnection } from '@runyard/event-log';
import { Presence } from './presence.adapter';

type Callback = (error: Error | null, message: { string(): string; respond(text: string): void }) => void;

it('answers questions about its runs, and nothing to what is no question', () => {
  const callbacks: Callback[] = [];
  const connection = {
    subscribe: (_subject: string, { callback }: { callback: Callback }) => void callbacks.push(callback),
  };
  new Presence(connection as unknown as NatsConnection, 'here').join(
    (runId, epoch) => runId === 'run' && epoch === 2,
    () => undefined,
  );
  const answerTo = (text: string): string | undefined => {
    let answer: string | undefined;
    callbacks[0]?.(null, { string: () => text, respond: (given) => (answer = given) });
    return answer;
  };
  expect(answerTo('{}')).toBe('{"answer":"alive"}');
  expect(answerTo('{"run_id":"run","epoch":2}')).toBe('{"answer":"mine"}');
  expect(answerTo('{"run_id":"run","epoch":1}')).toBe('{"answer":"not_mine"}');
  for (const nonsense of ['', 'null', '[', 'hello']) expect(answerTo(nonsense)).toBeUndefined();
});
