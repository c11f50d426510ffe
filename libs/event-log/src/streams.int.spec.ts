import { subjectOf } from '@runyard/contracts';
import type { TestNats } from '@runyard/testing';
import { startNats } from '@runyard/testing';
import { streamDefinitions } from '../../../deploy/nats/streams';
import type { EventLogConnection } from './index';
import { UnreliableServer, applyStreams, connectEventLog, verifyStreams } from './index';

jest.setTimeout(120_000);

let nats: TestNats;
let bus: EventLogConnection;
beforeAll(async () => {
  nats = await startNats({ streams: false });
  bus = await connectEventLog({ servers: nats.url, name: 'streams' });
});
afterAll(async () => {
  await bus?.close();
  await nats?.[Symbol.asyncDispose]();
});

const all = (result: string) => Object.fromEntries(streamDefinitions().map((one) => [one.name, result]));

it('creates, leaves alone and updates the streams', async () => {
  await expect(verifyStreams(bus.connection, streamDefinitions())).rejects.toThrow(/RUNS is missing; apply/);
  expect(await applyStreams(bus.connection, streamDefinitions())).toEqual(all('created'));
  await verifyStreams(bus.connection, streamDefinitions());
  expect(await applyStreams(bus.connection, streamDefinitions())).toEqual(all('unchanged'));
  const grown = streamDefinitions({ maxLogBytes: 50_000_000 });
  await expect(verifyStreams(bus.connection, grown)).rejects.toThrow(/max_bytes is -1 instead of 50000000/);
  expect(await applyStreams(bus.connection, grown)).toMatchObject({ RUNS: 'updated', WORK: 'unchanged' });
  await verifyStreams(bus.connection, grown);
});

it('survives two that apply at once', async () => {
  const results = await Promise.all([1, 2, 3].map(() => applyStreams(bus.connection, streamDefinitions())));
  expect(results).toHaveLength(3);
  await verifyStreams(bus.connection, streamDefinitions());
});

it('keeps a stream’s incarnation over updates', async () => {
  const before = await bus.log.state('RUNS');
  await applyStreams(bus.connection, streamDefinitions({ maxLogBytes: 40_000_000 }));
  expect((await bus.log.state('RUNS')).incarnation).toBe(before.incarnation);
});

it('refuses a change that the server cannot make, naming the stream', async () => {
  const changed = streamDefinitions().map((one) =>
    one.name === 'WORK' ? { ...one, retention: 'limits' as const } : one,
  );
  const refused = applyStreams(bus.connection, changed);
  await expect(refused).rejects.toThrow(UnreliableServer);
  await expect(refused).rejects.toThrow(/WORK/);
});

it('refuses appends to a full log instead of forgetting, and says so', async () => {
  await applyStreams(bus.connection, streamDefinitions({ maxLogBytes: 4_000 }));
  const quick = await connectEventLog({ servers: nats.url, name: 'full', limitMs: 300 });
  const events = [{ type: 'UserDeleted', data: { userId: 'x'.repeat(1_500) } }];
  const append = (id: string) =>
    quick.log.append({
      subject: subjectOf('people', 'acme', id),
      expected: 0,
      events,
      meta: { actor: 'system:x', source: 'x' },
    });
  await append('one');
  await append('two');
  await expect(append('three')).rejects.toThrow(/maximum bytes exceeded/);
  expect((await quick.log.state('PEOPLE')).firstSequence).toBe(1);
  await quick.close();
});
