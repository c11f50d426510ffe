import { MAX_COMMIT_BYTES } from '@runyard/contracts';
import { decodeCommit, decodeEvents, encodeCommit } from './commit';
import type { NewCommit, RawCommit } from './index';
import { BrokenCommit, delayAfter, formatPosition, parsePosition } from './index';

const commit: NewCommit = {
  subject: 'runyard.runs.3.acme.r1',
  expected: 0,
  events: [
    { type: 'RunPaused', data: { expiresAt: 1 } },
    { type: 'RunResumed', data: {}, meta: { actor: 'user:u2', causationId: 'c' } },
  ],
  meta: { actor: 'user:u1', source: 'run-executor', traceparent: '00-x-y-01' },
};
const raw = (body: string | Uint8Array): RawCommit => ({
  stream: 'RUNS',
  subject: commit.subject,
  sequence: 7,
  commitId: 'id',
  storedAt: 1,
  headers: {},
  body: typeof body === 'string' ? Buffer.from(body) : body,
});
const decode = (body: string | Uint8Array) => decodeCommit(raw(body));

describe('a commit', () => {
  it('lies on disk exactly as it always did: the shape is a disk format', () => {
    expect(encodeCommit(commit, 'id', 'acme', 'r1', 1_764_500_000_000).toString()).toBe(
      '[{"specversion":"1.0","id":"id.0","source":"run-executor","type":"runyard.RunPaused.v1","subject":"r1",' +
        '"time":"2025-11-30T10:53:20.000Z","datacontenttype":"application/json","org":"acme","actor":"user:u1",' +
        '"traceparent":"00-x-y-01","data":{"expiresAt":1}},' +
        '{"specversion":"1.0","id":"id.1","source":"run-executor","type":"runyard.RunResumed.v1","subject":"r1",' +
        '"time":"2025-11-30T10:53:20.000Z","datacontenttype":"application/json","org":"acme","actor":"user:u2",' +
        '"causationid":"c","traceparent":"00-x-y-01","data":{}}]',
    );
  });

  it('comes back as typed events of the newest shape', () => {
    const decoded = decodeEvents(decode(encodeCommit(commit, 'id', 'acme', 'r1', 5)), {
      RunPaused: true,
      RunResumed: true,
    });
    expect(decoded).toEqual({
      unknown: false,
      events: [
        { type: 'RunPaused', data: { expiresAt: 1 }, time: 5, actor: 'user:u1' },
        { type: 'RunResumed', data: {}, time: 5, actor: 'user:u2' },
      ],
    });
  });

  it('leaves unknown events out and says so, also newer shapes and names that every object has', () => {
    const event = (type: string) => ({ type, time: '2026-01-01T00:00:00Z', actor: 'system:x', data: {} });
    const types = [
      'runyard.RunPaused.v1',
      'runyard.RunPaused.v2',
      'runyard.Other.v1',
      'com.example.Thing',
      'runyard.Constructor.v1',
    ];
    const decoded = decodeEvents(decode(JSON.stringify(types.map(event))), { RunPaused: true });
    expect(decoded.unknown).toBe(true);
    expect(decoded.events).toHaveLength(1);
  });

  it.each(['', '{', '{}', '[]', '[1]', '[null]', '[{"type":1,"time":""}]', 'null'])(
    'refuses a body that is no commit: %j',
    (body) => {
      expect(() => decode(body)).toThrow(BrokenCommit);
      expect(() => decode(body)).toThrow(/RUNS 7/);
    },
  );

  it('refuses bytes that are no text', () => {
    expect(() => decode(Uint8Array.of(0xff, 0xfe, 0x00))).toThrow(BrokenCommit);
  });

  it('is smaller than the limit with sixty events of a usual size', () => {
    const events = Array.from({ length: 60 }, () => ({
      type: 'RunPaused',
      data: { text: 'x'.repeat(3_000) },
    }));
    expect(encodeCommit({ ...commit, events }, 'id', 'acme', 'r1', 1).byteLength).toBeLessThan(
      MAX_COMMIT_BYTES,
    );
  });
});

describe('positions', () => {
  it('are read back as they were written', () => {
    for (const position of [
      { sequence: 0, index: 0 },
      { sequence: 9_007_199_254_740_991, index: 12 },
    ])
      expect(parsePosition(formatPosition(position))).toEqual(position);
  });

  it.each(['', '1', '1.', '.1', '01.1', '1.01', '-1.0', '1.0 ', ' 1.0', '1e3.0', '1.0.0', '٣.0'])(
    'refuse %j',
    (text) => {
      expect(parsePosition(text)).toBeUndefined();
    },
  );
});

it('spreads twelve attempts over more than ten minutes (case C77)', () => {
  const delays = Array.from({ length: 11 }, (_, i) => delayAfter(i + 1));
  expect(delays[0]).toBe(250);
  expect(delays.every((delay, i) => i === 0 || delay >= (delays[i - 1] ?? 0))).toBe(true);
  expect(delays.reduce((sum, delay) => sum + delay)).toBeGreaterThan(600_000);
});
