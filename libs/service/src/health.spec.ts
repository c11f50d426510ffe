import { Health } from './health';
import { createLogger } from './logger';
import { Metrics } from './metrics';

const silent = createLogger('spec', 'silent');
const health = () => new Health(new Metrics('spec'), silent);

describe('readiness', () => {
  afterEach(() => jest.useRealTimers());

  it('is red until it serves, and red for good from the moment it shuts down', async () => {
    const it = health();
    expect(it.report()).toMatchObject({ ready: false, code: 'starting' });
    await it.start();
    expect(it.report()).toEqual({ ready: true, checks: [] });
    it.shutDown();
    expect(it.report()).toMatchObject({ ready: false, code: 'shutting_down' });
  });

  it('names the part that is not well and why, and turns green again by itself', async () => {
    const it = health();
    let fault: { code: 'db_unreachable' } | null = null;
    it.watch('db', 'postgres', () => fault);
    it.watch('bus', 'nats', () => null);
    await it.start();
    expect(it.report().ready).toBe(true);
    fault = { code: 'db_unreachable' };
    await it.check();
    expect(it.report()).toEqual({
      ready: false,
      checks: [
        { part: 'db', name: 'postgres', ok: false, code: 'db_unreachable' },
        { part: 'bus', name: 'nats', ok: true },
      ],
    });
    fault = null;
    await it.check();
    expect(it.report().ready).toBe(true);
    it.shutDown();
  });

  it('takes a check that throws, and one that never answers, as faults', async () => {
    jest.useFakeTimers();
    const it = health();
    it.watch('bus', 'throws', () => Promise.reject(new Error('gone')));
    it.watch('db', 'hangs', () => new Promise(() => undefined));
    const started = it.start();
    await jest.advanceTimersByTimeAsync(3_000);
    await started;
    expect(it.report().checks).toMatchObject([
      { code: 'check_failed', detail: 'gone' },
      { code: 'check_timed_out' },
    ]);
    it.shutDown();
  });

  it('C74 is red when a consumer has heard nothing for 30 s (nats-io/nats.node#590)', async () => {
    const it = health();
    let silence = 29_000;
    const forget = it.watchConsumer('work', { lastSeenMs: () => silence });
    await it.start();
    expect(it.report().ready).toBe(true);
    silence = 31_000;
    await it.check();
    expect(it.report().checks).toMatchObject([{ part: 'consumers', name: 'work', code: 'consumer_stale' }]);
    forget();
    expect(it.report().ready).toBe(true);
    it.shutDown();
  });
});
