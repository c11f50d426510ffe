import type { ChatMessage } from '../domain/dialog';
import type { EndedRun } from '../domain/run';
import { append, EMPTY_TRANSCRIPT } from '../domain/transcript';
import { Histories } from './histories';

const ended = (texts: string[], previousRunId: string | null = null): EndedRun => {
  const said = texts.map((text): ChatMessage => ({ role: 'user', text }));
  return { situation: 'ended', transcript: append(EMPTY_TRANSCRIPT, said), previousRunId } as EndedRun;
};

describe('dialogs that are kept', () => {
  it('are believed only while nothing was appended to their run', () => {
    const histories = new Histories();
    histories.keep('run', 7, ended(['hello']));
    expect(histories.get('run', 7)).toEqual([{ role: 'user', text: 'hello' }]);
    expect(histories.get('run', 8)).toBeUndefined();
    expect(histories.has('run')).toBe(false);
  });

  it('are one a conversation', () => {
    const histories = new Histories();
    histories.keep('first', 1, ended(['a']));
    histories.keep('second', 2, ended(['a', 'b'], 'first'));
    expect([histories.has('first'), histories.has('second')]).toEqual([false, true]);
  });

  it('make room by number and by size, the oldest first', () => {
    const many = new Histories();
    for (let i = 0; i <= 200; i++) many.keep(`run${i}`, i, ended(['a']));
    expect([many.has('run0'), many.has('run1'), many.has('run200')]).toEqual([false, true, true]);
    const large = new Histories();
    const text = 'x'.repeat(40 * 1024 * 1024);
    large.keep('first', 1, ended([text]));
    large.keep('second', 2, ended([text]));
    expect([large.has('first'), large.has('second')]).toEqual([false, true]);
  });
});
