import fc from 'fast-check';
import { eventType } from '@runyard/contracts';
import type { Json } from '@runyard/contracts';
import { readEventStream } from '../../e2e/event-stream-reader';
import { encodeControl, encodeEvent, encodeRetry, framesOf, PING } from './frame';
import { StreamedCommit } from './streamed-commit';

const commit = (data: Json, type = eventType('ToolCallSucceeded', 1), actor = 'system:executor') => ({
  sequence: 42,
  events: [
    {
      specversion: '1.0' as const,
      id: 'c.0',
      source: 'run-executor',
      type,
      subject: 'run_1',
      time: '2026-01-01T00:00:00.000Z',
      datacontenttype: 'application/json' as const,
      org: 'org',
      actor: actor as 'system:executor',
      data,
    },
  ],
});

const wire = (data: Json) =>
  Buffer.from(
    framesOf(commit(data))
      .map((frame) => encodeEvent(frame, 'abc'))
      .join(''),
  );

describe('frames of the event stream', () => {
  test('a durable event carries its cursor as id, one event name and one line of JSON', () => {
    const [event, ...rest] = readEventStream(wire({ text: 'hello' }));
    expect(rest).toEqual([]);
    expect(event?.id).toBe('abc.42.0');
    expect(event?.event).toBe('agent-run-event');
    expect(JSON.parse(event?.data ?? '')).toEqual({
      run_id: 'run_1',
      type: 'ToolCallSucceeded',
      time: '2026-01-01T00:00:00.000Z',
      position: '42.0',
      actor: 'system:executor',
      data: { text: 'hello' },
    });
  });

  test('control frames, the retry hint and pings carry no id and so leave the position alone', () => {
    const events = readEventStream(
      wire('x'),
      Buffer.from(encodeControl('caught-up', { run_id: 'run_1' }) + encodeRetry(2000) + PING),
    );
    expect(events.map((event) => [event.id, event.event])).toEqual([
      ['abc.42.0', 'agent-run-event'],
      ['abc.42.0', 'caught-up'],
    ]);
    expect(encodeControl('end', {})).not.toContain('id:');
  });

  test('an event of an unknown type keeps its name instead of being dropped', () => {
    expect(framesOf(commit({}, 'runyard.SomethingNew.v3')).map((frame) => frame.type)).toEqual([
      'SomethingNew',
    ]);
  });

  test.each([
    'x\nevent: approval.decided',
    'line1\revent: run.finished\rdata: {}',
    'a\r\n\r\nb',
    'U+2028 \u2028 and \u2029',
    'NUL \0 in text',
    'title\n\nid: 999999',
    '\ud800 lone surrogate',
  ])('C52 text %j forges no field and comes back whole (fanout/django-eventstream#185)', (text) => {
    const events = readEventStream(wire({ text }));
    expect(events).toHaveLength(1);
    expect(events[0]?.id).toBe('abc.42.0');
    expect(events[0]?.event).toBe('agent-run-event');
    expect((JSON.parse(events[0]?.data ?? '') as { data: { text: string } }).data.text).toBe(text);
  });

  test('C52 ten thousand random texts are each exactly one event (fanout/django-eventstream#185)', () => {
    const nasty = fc.string({
      unit: fc.oneof(
        fc.constantFrom('\r', '\n', '\0', ':', ' ', '\u2028', '\ufeff', 'id: 9', 'data:'),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      ),
    });
    fc.assert(
      fc.property(nasty, nasty, (key, text) => {
        const events = readEventStream(wire({ [`k${key}`]: text }));
        return (
          events.length === 1 &&
          (JSON.parse(events[0]?.data ?? '') as { data: Record<string, string> }).data[`k${key}`] === text
        );
      }),
      { numRuns: 10_000 },
    );
  }, 30_000);

  test('C53 the stream read in any two pieces gives the same events (musistudio/claude-code-router#1672)', () => {
    const texts = ['北京', '🌍', '\ufeffbom', 'a\r\n\r\nb', 'x'.repeat(600)];
    const bytes = Buffer.concat([
      Buffer.from(encodeRetry(1000)),
      ...texts.map((text) => wire({ text })),
      Buffer.from(PING),
    ]);
    const whole = readEventStream(bytes);
    expect(whole.map((event) => (JSON.parse(event.data) as { data: { text: string } }).data.text)).toEqual(
      texts,
    );
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(readEventStream(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(whole);
    }
  }, 30_000);

  test('a commit shows nothing after the event that ends the run', () => {
    const one = commit({ output: { text: 'done' } }, eventType('RunSucceeded', 1));
    const both = { sequence: 42, events: [...one.events, ...commit({}).events] };
    const streamed = new StreamedCommit(both, 'abc');
    expect(streamed.ends).toBe(true);
    expect(readEventStream(Buffer.from(streamed.textAfter(undefined))).map((event) => event.id)).toEqual([
      'abc.42.0',
    ]);
    expect(streamed.textAfter({ incarnation: 'abc', sequence: 42, index: 0 })).toBe('');
  });
});
