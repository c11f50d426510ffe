import { Pacing } from './pacing';

describe('the pace of a reader', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const settledAfter = async (work: Promise<void>, ms: number): Promise<boolean> => {
    let settled = false;
    void work.then(() => (settled = true));
    await jest.advanceTimersByTimeAsync(ms);
    return settled;
  };

  it('lets commits gather from the first one on where nothing came lately', async () => {
    const pacing = new Pacing({ gatherMs: 50 });
    const gathering = pacing.gather();
    expect(await settledAfter(gathering, 49)).toBe(false);
    expect(await settledAfter(gathering, 1)).toBe(true);
  });

  it('counts from the last fetch while commits keep coming', async () => {
    const pacing = new Pacing({ gatherMs: 50 });
    pacing.fetched(3, 256);
    await jest.advanceTimersByTimeAsync(30);
    const gathering = pacing.gather();
    expect(await settledAfter(gathering, 19)).toBe(false);
    expect(await settledAfter(gathering, 1)).toBe(true);
  });

  it('is quiet after a fetch that brought nothing, and full after one that brought all it could', () => {
    const pacing = new Pacing({ gatherMs: 50 });
    pacing.fetched(0, 256);
    expect(pacing).toMatchObject({ quiet: true, full: false });
    pacing.fetched(256, 256);
    expect(pacing).toMatchObject({ quiet: false, full: true });
  });

  it('does not wait where somebody waits for what comes, once', async () => {
    let hurry: () => void = () => undefined;
    const pacing = new Pacing({
      gatherMs: 50,
      onHurry: (tell) => {
        hurry = tell;
        return () => undefined;
      },
    });
    const gathering = pacing.gather();
    hurry();
    expect(await settledAfter(gathering, 0)).toBe(true);
    hurry();
    expect(await settledAfter(pacing.gather(), 0)).toBe(true);
    expect(await settledAfter(pacing.gather(), 49)).toBe(false);
  });

  it('stops waiting and listening at its end', async () => {
    let listens = true;
    const pacing = new Pacing({ gatherMs: 50, onHurry: () => () => void (listens = false) });
    const gathering = pacing.gather();
    pacing.stop();
    expect(await settledAfter(gathering, 0)).toBe(true);
    expect(listens).toBe(false);
  });
});
