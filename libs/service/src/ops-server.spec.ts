import { Health } from './health';
import { createLogger } from './logger';
import { Metrics } from './metrics';
import { OpsServer } from './ops-server';

const target = (name: string) => {
  const metrics = new Metrics(name);
  return { name, metrics, health: new Health(metrics, createLogger(name, 'silent')) };
};

describe('the ops server', () => {
  it('answers for one service, and is alive while it is not ready', async () => {
    const one = target('one');
    const server = await OpsServer.listen({ host: '127.0.0.1', port: 0 }, [one]);
    const get = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);
    expect((await get('/live')).status).toBe(200);
    expect((await get('/ready')).status).toBe(503);
    await one.health.start();
    const ready = await get('/ready');
    expect([ready.status, await ready.json()]).toEqual([200, { service: 'one', ready: true, checks: [] }]);
    expect((await get('/secrets')).status).toBe(404);
    one.health.shutDown();
    await server.close();
  });

  it('answers for several, red when one of them is, with each metric described once', async () => {
    const [one, two] = [target('one'), target('two')];
    const server = await OpsServer.listen({ host: '127.0.0.1', port: 0 }, [one, two]);
    await one.health.start();
    const ready = await fetch(`http://127.0.0.1:${server.port}/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([
      503,
      {
        ready: false,
        services: [
          { service: 'one', ready: true },
          { service: 'two', ready: false, code: 'starting' },
        ],
      },
    ]);
    const page = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
    expect(page.match(/# TYPE runyard_ready gauge/g)).toHaveLength(1);
    expect(page).toContain('runyard_ready{service="one"} 1');
    expect(page).toContain('runyard_ready{service="two"} 0');
    one.health.shutDown();
    await server.close();
  });
});
