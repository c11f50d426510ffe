import { Health } from './health';
import { createLogger } from './logger';
import { Loops, pause } from './loops';
import { Metrics } from './metrics';

describe('background loops', () => {
  let health: Health;
  let loops: Loops;
  beforeEach(async () => {
    jest.useFakeTimers();
    const [metrics, logger] = [new Metrics('spec'), createLogger('spec', 'silent')];
    health = new Health(metrics, logger);
    loops = new Loops(health, logger, metrics);
    await health.start();
  });
  afterEach(async () => {
    health.shutDown();
    const stopped = loops.stop();
    await jest.advanceTimersByTimeAsync(20_000);
    await stopped;
    jest.useRealTimers();
  });
  const red = async () => {
    await health.check();
    return health.report().checks.filter(({ ok }) => !ok);
  };

  it('C83 turn readiness red with their name when they die, and green when they live again (decocms/studio#2993)', async () => {
    let lives = 0;
    loops.start('sweep', async (signal) => {
      if (++lives < 3) throw new Error('iterator broke');
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    });
    await jest.advanceTimersByTimeAsync(0);
    expect(await red()).toEqual([
      { part: 'loops', name: 'sweep', ok: false, code: 'loop_died', detail: 'iterator broke' },
    ]);
    await jest.advanceTimersByTimeAsync(3_500);
    expect(lives).toBe(3);
    expect(await red()).toEqual([]);
  });

  it('count returning unasked as a death', async () => {
    loops.start('sweep', () => Promise.resolve());
    await jest.advanceTimersByTimeAsync(0);
    expect(await red()).toMatchObject([{ name: 'sweep', detail: 'ended without being asked to' }]);
  });

  it('work at intervals, never twice at once, and end when asked', async () => {
    let running = 0;
    let calls = 0;
    loops.every('tick', 100, async (signal) => {
      expect(++running).toBe(1);
      calls++;
      await pause(250, signal);
      running--;
    });
    await jest.advanceTimersByTimeAsync(1_000);
    expect(calls).toBe(3);
    const stopped = loops.stop();
    await jest.advanceTimersByTimeAsync(0);
    await stopped;
    expect(running).toBe(0);
  });
});
