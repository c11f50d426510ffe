import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Caller } from '@runyard/contracts';
import { Problem, parseWith, rpcSubject } from '@runyard/contracts';
import { eventually, startNats } from '@runyard/testing';
import type { TestNats } from '@runyard/testing';
import { z } from 'zod';
import { createLogger } from './logger';
import { Metrics } from './metrics';
import { commitMeta, currentContext, withContext } from './request-context';
import { NatsRpcClient } from './rpc-client';
import { RpcServer } from './rpc-server';
import type { RpcHandler } from './types';

jest.setTimeout(120_000);

const CALLER: Caller = {
  org: '11111111-1111-4111-8111-111111111111',
  actor: 'user:u1',
  userId: 'u1',
  roles: ['member'],
};

describe('RPC over NATS', () => {
  let nats: TestNats;
  let serving: NatsConnection;
  let asking: NatsConnection;
  let client: NatsRpcClient;
  const servers: RpcServer[] = [];
  const lines: string[] = [];
  let service = 0;

  beforeAll(async () => {
    nats = await startNats({ streams: false });
    [serving, asking] = await Promise.all([connect({ servers: nats.url }), connect({ servers: nats.url })]);
    client = new NatsRpcClient(asking);
  });
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop(100)));
  });
  afterAll(async () => {
    await Promise.all([serving?.close(), asking?.close()]);
    await nats?.[Symbol.asyncDispose]();
  });

  async function serve(
    method: string,
    handler: RpcHandler,
    concurrency = 8,
  ): Promise<{ name: string; server: RpcServer }> {
    const name = `service-${++service}`;
    const server = new RpcServer(
      serving,
      name,
      concurrency,
      createLogger(name, 'info', { write: (line) => void lines.push(line) }),
      new Metrics(name),
    );
    servers.push(server);
    server.serve(method, handler);
    await serving.flush();
    return { name, server };
  }
  const refused = async (call: Promise<unknown>): Promise<Problem> => {
    const error = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error instanceof Problem) return error;
    throw new Error('It was not refused');
  };

  it('hands over caller and input, and answers with the value', async () => {
    const { name } = await serve('things.get', async (caller, input) => ({
      caller,
      input,
      count: 5n,
      exact: 2n ** 60n,
      none: undefined,
    }));
    expect(await client.call(name, 'things.get', CALLER, { a: [1] })).toEqual({
      caller: CALLER,
      input: { a: [1] },
      count: 5,
      exact: '1152921504606846976',
    });
    const { name: silent } = await serve('things.do', async () => undefined);
    expect(await client.call(silent, 'things.do', CALLER, {})).toBeNull();
  });

  it('carries refusals with their facts, and hides what failed unexpectedly behind a reference', async () => {
    const { name } = await serve('things.get', async (_caller, input) => {
      parseWith(z.strictObject({ id: z.string('must be a text') }), input);
      throw new Error('the password is hunter2');
    });
    expect(await refused(client.call(name, 'things.get', CALLER, { id: 5 }))).toMatchObject({
      code: 'invalid_request',
      facts: { errors: [{ pointer: '/id', detail: 'must be a text' }] },
    });
    const problem = await refused(client.call(name, 'things.get', CALLER, { id: 'x' }));
    expect(problem.code).toBe('internal');
    expect(problem.message).not.toContain('hunter2');
    expect(lines.find((line) => line.includes(String(problem.facts.reference)))).toContain('hunter2');
  });

  it('says whether the other side may have acted', async () => {
    expect(await refused(client.call('nobody', 'things.get', CALLER, {}))).toMatchObject({
      code: 'unavailable',
      facts: { retryable: true, maybeDone: false },
    });
    const { name } = await serve('things.slow', () => new Promise(() => undefined));
    expect(await refused(client.call(name, 'things.slow', CALLER, {}, { timeoutMs: 50 }))).toMatchObject({
      code: 'unavailable',
      facts: { maybeDone: true },
    });
  });

  it('waits out the restart of a service, since nobody has taken the request', async () => {
    const answer = client.call(`service-${service + 1}`, 'things.late', CALLER, {});
    await serve('things.late', async () => 'here');
    expect(await answer).toBe('here');
  });

  it('passes request id and trace on, through to the commit', async () => {
    const inner = await serve('inner.get', async (caller) => ({
      context: currentContext(),
      meta: commitMeta(caller, 'inner'),
    }));
    const outer = await serve('outer.get', (caller) => client.call(inner.name, 'inner.get', caller, {}));
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const answer = await withContext({ requestId: 'req-1', traceparent }, () =>
      client.call(outer.name, 'outer.get', CALLER, {}),
    );
    expect(answer).toMatchObject({
      context: { requestId: 'req-1', traceparent, org: CALLER.org, method: 'inner.get' },
      meta: { actor: 'user:u1', source: 'inner', causationId: 'req-1', traceparent },
    });
  });

  it('handles no more at once than it has places for, and turns away what cannot come to its turn', async () => {
    let running = 0;
    let most = 0;
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const { name } = await serve(
      'things.get',
      async () => {
        most = Math.max(most, ++running);
        await gate;
        running--;
        return 'ok';
      },
      2,
    );
    let turnedAway = 0;
    const calls = Promise.all(
      Array.from({ length: 40 }, () =>
        client.call(name, 'things.get', CALLER, {}).catch((problem: Problem) => {
          turnedAway++;
          return problem.code;
        }),
      ),
    );
    // The places are held until all forty have come.
    await eventually(() => running === 2 && turnedAway === 6);
    open();
    const outcomes = await calls;
    expect(most).toBe(2);
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(2 + 32);
    expect(outcomes.filter((outcome) => outcome === 'unavailable')).toHaveLength(6);
  });

  it('is answered by one instance of a service', async () => {
    const { name } = await serve('things.get', async () => 'one');
    const second = new RpcServer(serving, name, 8, createLogger(name, 'silent'), new Metrics(name));
    servers.push(second);
    second.serve('things.get', async () => 'two');
    await serving.flush();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => client.call<string>(name, 'things.get', CALLER, {})),
    );
    expect(new Set(answers)).toEqual(new Set(['one', 'two']));
  });

  it('answers what is in hand when it stops, and takes nothing new', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    let taken = false;
    const { name, server } = await serve('things.get', async () => {
      taken = true;
      await gate;
      return 'done';
    });
    const call = client.call(name, 'things.get', CALLER, {});
    await eventually(() => taken);
    const stopped = server.stop(5_000);
    await eventually(
      async () =>
        (await refused(client.call(name, 'things.get', CALLER, {}, { timeoutMs: 100 }))).facts.maybeDone ===
        false,
    );
    open();
    expect(await call).toBe('done');
    await stopped;
  });

  it('refuses what is no request, and says so when an answer is too large', async () => {
    const { name } = await serve('things.get', async () => 'x'.repeat(2_000_000));
    const answer = await asking.request(rpcSubject(name, 'things.get'), 'no json', { timeout: 30_000 });
    expect(answer.json()).toMatchObject({ ok: false, problem: { code: 'malformed_json' } });
    expect((await refused(client.call(name, 'things.get', CALLER, {}))).code).toBe('internal');
    expect((await refused(client.call(name, 'things.get', CALLER, 'x'.repeat(2_000_000)))).code).toBe(
      'payload_too_large',
    );
  });
});
