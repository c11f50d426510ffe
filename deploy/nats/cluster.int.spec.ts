import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { subjectOf } from '@runyard/contracts';
import { applyStreams, connectEventLog, streamOperations } from '@runyard/event-log';
import { eventually } from '@runyard/testing';
import { startNatsServer } from '../local/nats.mjs';
import type { LocalNatsServer } from '../local/nats.mjs';
import { clusterBlock } from './configuration';
import { streamDefinitions } from './streams';

// Three real servers that keep every stream three times, as deploy/k8s/overlays/cluster has them.

jest.setTimeout(120_000);

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });

const folder = mkdtempSync(join(tmpdir(), 'runyard-cluster-'));
const servers = new Map<string, LocalNatsServer>();
let urls: string[];

beforeAll(async () => {
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  await Promise.all(
    ports.map(async (port, i) => {
      const name = `nats-${i}`;
      const authorization = clusterBlock(name, port, addresses);
      servers.set(name, await startNatsServer({ dir: join(folder, name), syncAlways: false, authorization }));
    }),
  );
  urls = [...servers.values()].map(({ url }) => url);
});
afterAll(async () => {
  await Promise.all([...servers.values()].map((server) => server.kill()));
  rmSync(folder, { recursive: true, force: true });
});

interface Placed {
  num_replicas: number;
}

test('streams are made three times, and a run goes on when the server that leads its stream is killed', async () => {
  const connection = await connect({ servers: urls });
  const definitions = streamDefinitions({ replicas: 3 });
  // Until the three have found each other and chosen who leads.
  await eventually(
    () =>
      applyStreams(connection, definitions).then(
        () => true,
        () => false,
      ),
    { withinMs: 60_000 },
  );
  const operations = streamOperations(connection);
  for (const { name } of definitions) {
    const { config } = (await operations.report(name))!;
    expect([name, (config as unknown as Placed).num_replicas]).toEqual([name, 3]);
  }

  const bus = await connectEventLog({ servers: urls, name: 'spec' });
  const subject = subjectOf('runs', randomUUID(), 'run_1');
  const meta = { actor: 'system:spec', source: 'spec' } as const;
  const append = (expected: number) =>
    bus.log.append({ subject, expected, events: [{ type: 'RunResumed', data: {} }], meta });
  const first = await append(0);
  const info = await connection.request('$JS.API.STREAM.INFO.RUNS');
  const { cluster } = info.json<{ cluster: { leader: string } }>();
  await servers.get(cluster.leader)!.kill();
  const second = await append(first.sequence);
  const third = await append(second.sequence);
  const commits = await bus.log.read(subject);
  expect(commits.map(({ sequence }) => sequence)).toEqual(
    [first, second, third].map(({ sequence }) => sequence),
  );
  expect(await bus.log.lastSequence(subject)).toBe(third.sequence);
  operations.close();
  await bus.close();
  await connection.close();
});
