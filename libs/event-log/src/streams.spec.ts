import type { NatsConnection } from '@nats-io/transport-node';
import {
  CONTEXT_STREAMS,
  DEAD_STREAM,
  QUEUES,
  deadSubject,
  requestSubject,
  subjectOf,
  workSubject,
} from '@runyard/contracts';
import { streamDefinitions } from '../../../deploy/nats/streams';
import { UnreliableServer, applyStreams, checkServer, differences } from './index';
import { atLeast } from './server';

const usable = { version: '2.10.27', jetstream: true, headers: true, max_payload: 1_048_576 };

describe('the server', () => {
  it.each([
    ['2.10.23', true],
    ['2.10.27', true],
    ['2.11.0-RC.1', true],
    ['2.15.0-dev', true],
    ['3.0.0', true],
    ['2.10.22', false],
    ['2.9.10', false],
    ['1.99.99', false],
    ['dev', false],
    ['', false],
  ])('of version %s is usable: %s', (version, yes) => {
    expect(atLeast(version, '2.10.23')).toBe(yes);
  });

  it('is refused with the reason and what to do', () => {
    expect(() => checkServer(usable)).not.toThrow();
    expect(() => checkServer({ ...usable, version: '2.9.10' })).toThrow(
      /2\.9\.10; 2\.10\.23 or newer is needed/,
    );
    expect(() => checkServer({ ...usable, jetstream: undefined })).toThrow(/JetStream/);
    expect(() => checkServer({ ...usable, headers: false })).toThrow(/headers/);
    expect(() => checkServer({ ...usable, max_payload: 65_536 })).toThrow(/max_payload/);
    expect(() => checkServer(undefined)).toThrow(UnreliableServer);
  });

  it('is refused before a stream is touched', async () => {
    const old = { info: { ...usable, version: '2.10.22' } } as NatsConnection;
    await expect(applyStreams(old, streamDefinitions())).rejects.toThrow(UnreliableServer);
  });
});

describe('the definitions', () => {
  const definitions = streamDefinitions({ replicas: 3, maxLogBytes: 1_000 });
  const matches = (pattern: string, subject: string) => {
    const [a, b] = [pattern.split('.'), subject.split('.')];
    return a.length === b.length && a.every((part, i) => part === '*' || part === b[i]);
  };
  const homesOf = (subject: string) =>
    definitions
      .filter((one) => one.subjects.some((pattern) => matches(pattern, subject)))
      .map((one) => one.name);

  it('give every subject exactly one stream, the one that the contracts name', () => {
    for (const [context, stream] of Object.entries(CONTEXT_STREAMS))
      expect(homesOf(subjectOf(context as keyof typeof CONTEXT_STREAMS, 'acme', 'x'))).toEqual([stream]);
    expect(homesOf(requestSubject('acme'))).toEqual([QUEUES.requests]);
    expect(homesOf(workSubject('acme', 'r1'))).toEqual([QUEUES.work]);
    expect(homesOf(deadSubject('WORK', 'worker'))).toEqual([DEAD_STREAM]);
    expect(homesOf('runyard.rpc.run-executor.runs_get')).toEqual([]);
  });

  it('forget nothing silently, and bound their consumers', () => {
    for (const one of definitions)
      expect(one).toMatchObject({
        storage: 'file',
        discard: 'new',
        max_age: 0,
        num_replicas: 3,
        deny_purge: false,
      });
    expect(definitions.every((one) => one.max_consumers > 0)).toBe(true);
    expect(definitions.find((one) => one.name === 'RUNS')?.max_bytes).toBe(1_000);
  });

  it('tell what a server keeps otherwise: old ones drop what they do not know', () => {
    const [runs] = definitions;
    if (!runs) throw new Error('no definitions');
    const { allow_direct: _dropped, ...kept } = { ...runs };
    expect(differences(runs, { ...runs })).toEqual([]);
    expect(differences(runs, kept)).toEqual(['allow_direct is undefined instead of true']);
    expect(differences(runs, { ...runs, discard: 'old', max_age: undefined })).toEqual([
      'discard is "old" instead of "new"',
    ]);
  });
});
