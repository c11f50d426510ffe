import type { NewRunEvent } from '../domain/decision';
import { fold } from '../domain/evolve';
import { NO_MATERIAL } from '../domain/material';
import { dated } from '../domain/next';
import { NO_RUN } from '../domain/run';
import { Drivers } from './drivers.process';
import type { DriversPorts } from './drivers.process';
import { queued } from '../projections/sample-events';

const STARTED: NewRunEvent = { type: 'RunStarted', data: { epoch: 1, instance: 'dead' } };
const RECOVERED: NewRunEvent = {
  type: 'RunRecovered',
  data: { epoch: 2, instance: 'heir', evidence: 'no_responders' },
};
const CLAIMED = new Error('claimed');

/** Drivers whose attempt to claim is seen and goes no further. */
function driversOn(...events: NewRunEvent[]): Drivers {
  const run = fold(
    NO_RUN,
    [queued('run') as NewRunEvent, ...events].map((event) => dated(event, 1)),
    NO_MATERIAL,
  );
  return new Drivers({
    places: 1,
    instance: 'here',
    clock: () => 1,
    runs: { load: (org: string, runId: string) => Promise.resolve({ org, runId, run, sequence: 1 }) },
    definitions: { get: () => Promise.reject(CLAIMED) },
  } as unknown as DriversPorts);
}

describe('evidence against a driver', () => {
  it('is none against the one that took the run over meanwhile (P3.3)', async () => {
    const drivers = driversOn(STARTED, RECOVERED);
    expect(await drivers.takeOver('org', 'run', 'no_responders', { instance: 'dead' })).toBe('nothing_to_do');
    expect(await drivers.takeOver('org', 'run', 'not_mine', { epoch: 1 })).toBe('nothing_to_do');
    expect(drivers.free).toBe(1);
  });

  it('leads to a claim while the last one is that of the accused', async () => {
    await expect(
      driversOn(STARTED).takeOver('org', 'run', 'no_responders', { instance: 'dead' }),
    ).rejects.toBe(CLAIMED);
    await expect(driversOn(STARTED).takeOver('org', 'run', 'not_mine', { epoch: 1 })).rejects.toBe(CLAIMED);
  });

  it("is not needed against nobody: a queued or woken run is anybody's", async () => {
    const woken: NewRunEvent[] = [
      STARTED,
      RECOVERED,
      { type: 'RunPaused', data: { expiresAt: 9 } },
      { type: 'RunResumed', data: {} },
    ];
    await expect(driversOn().takeOver('org', 'run', 'woken', { epoch: 0 })).rejects.toBe(CLAIMED);
    await expect(
      driversOn(...woken).takeOver('org', 'run', 'no_responders', { instance: 'dead' }),
    ).rejects.toBe(CLAIMED);
  });
});
