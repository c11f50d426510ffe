import { UnknownEvent } from '@runyard/event-log';
import { NO_RUN } from '../domain/run';
import type { LiveRun, Run } from '../domain/run';
import { fold } from '../domain/evolve';
import { dated } from '../domain/next';
import type { NewRunEvent } from '../domain/decision';
import { NO_MATERIAL } from '../domain/material';
import { queued } from '../projections/sample-events';
import type { TakeOver } from './drivers.process';
import { Sweep } from './sweep.process';
import type { SweepPorts } from './sweep.process';

const INSTANCE = 'here';
const claimed = (epoch: number, instance: string): NewRunEvent =>
  epoch === 1
    ? { type: 'RunStarted', data: { epoch, instance } }
    : { type: 'RunRecovered', data: { epoch, instance, evidence: 'not_mine' } };

const runOf = (...events: NewRunEvent[]): Run =>
  fold(
    NO_RUN,
    [queued('run') as NewRunEvent, ...events].map((event) => dated(event, 1)),
    NO_MATERIAL,
  );

interface World {
  runs: Record<string, Run | Error>;
  takenOver?: TakeOver;
  free?: number;
}

const none = () => Promise.resolve([]);
const NOTHING_DUE = {
  otherInstances: none,
  expiredPauses: none,
  overdueCancels: none,
  unbornSlots: none,
  endedHolders: none,
  silentDrivers: none,
};

/** A sweep over tables that name `runs` as this process's, as unclaimed, and as driven by a process that is gone. */
function sweeping({ runs, takenOver = 'driving', free = 8 }: World) {
  const appended: [string, string[]][] = [];
  const takeOver = jest.fn((..._asked: unknown[]) => Promise.resolve(takenOver));
  const open = Object.keys(runs).map((runId) => ({ org: 'org', runId }));
  const glance = (_org: string, runId: string) => {
    const run = runs[runId];
    return run instanceof Error
      ? Promise.reject(run)
      : Promise.resolve({ org: 'org', runId, run, sequence: 1 });
  };
  const warned = jest.fn();
  const ports = {
    operations: {
      ...NOTHING_DUE,
      runsOf: () => Promise.resolve(open),
      unclaimed: () => Promise.resolve(open),
    },
    runs: {
      glance,
      appendWhatFits: (loaded: { runId: string }, events: NewRunEvent[]) => {
        appended.push([loaded.runId, events.map((event) => event.type)]);
        return Promise.resolve({ count: events.length });
      },
    },
    drivers: { free, has: () => false, takeOver },
    evidences: {
      gone: () => Promise.resolve(true),
      against: (_id: string, run: LiveRun) =>
        Promise.resolve(run.woken || run.situation === 'queued' ? 'woken' : 'not_mine'),
    },
    intake: {},
    waiting: { due: () => Promise.resolve([]) },
    children: { ended: () => Promise.resolve(), cancelAll: () => Promise.resolve() },
    instance: INSTANCE,
    clock: () => 1_000,
    release: () => Promise.resolve(),
    log: { warn: warned },
  };
  return { sweep: new Sweep(ports as unknown as SweepPorts), ports, appended, takeOver, warned };
}

const times = async (count: number, work: () => Promise<void>): Promise<void> => {
  for (let i = 0; i < count; i++) await work();
};

it('closes a run as stale whose drivers failed again and again', async () => {
  const { sweep, appended, takeOver } = sweeping({ runs: { failing: runOf(claimed(1, INSTANCE)) } });
  await times(6, () => sweep.drivers());
  expect(takeOver).toHaveBeenCalledTimes(5);
  expect(appended).toEqual([]);
  await sweep.drivers();
  expect(appended).toEqual([['failing', ['RunFailed']]]);
});

it('holds nothing against a run that waits for a free place', async () => {
  const { sweep, appended, takeOver } = sweeping({
    runs: { waiting: runOf(claimed(1, INSTANCE)) },
    takenOver: 'no_place',
  });
  await times(21, () => sweep.drivers());
  expect(takeOver).toHaveBeenCalledTimes(20);
  expect(appended).toEqual([]);
});

it('holds nothing against a run that was woken again and again', async () => {
  const resumed: NewRunEvent[] = [
    { type: 'RunPaused', data: { expiresAt: 9 } },
    { type: 'RunResumed', data: {} },
  ];
  const { sweep, appended } = sweeping({ runs: { woken: runOf(claimed(1, INSTANCE), ...resumed) } });
  await times(20, () => sweep.drivers());
  expect(appended).toEqual([]);
});

it('looks up only what a second round still finds, because rows of runs that have just ended lag behind', async () => {
  const { sweep, ports, takeOver } = sweeping({ runs: { ended: runOf(claimed(1, INSTANCE)) } });
  await sweep.drivers();
  ports.operations.runsOf = () => Promise.resolve([]);
  await sweep.drivers();
  expect(takeOver).not.toHaveBeenCalled();
});

it('looks after the others where one run cannot be read', async () => {
  const unreadable = new UnknownEvent('subject', 'RunTeleported');
  const { sweep, takeOver, warned } = sweeping({ runs: { unreadable, lost: runOf(claimed(1, INSTANCE)) } });
  await times(4, () => sweep.drivers());
  expect(takeOver.mock.calls.map(([, runId]) => runId)).toEqual(['lost', 'lost', 'lost']);
  expect(warned).toHaveBeenCalledTimes(1);
});

it('says what its evidence is about: the epoch that it asked for, or the process that is gone (P3.3)', async () => {
  const { sweep, ports, takeOver } = sweeping({
    runs: { lost: runOf(claimed(1, INSTANCE), claimed(2, INSTANCE)) },
  });
  await times(2, () => sweep.drivers());
  ports.operations.otherInstances = () => Promise.resolve(['elsewhere'] as never[]);
  await sweep.drivers();
  expect(takeOver.mock.calls.map(([, , evidence, accused]) => [evidence, accused])).toEqual([
    ['not_mine', { epoch: 2 }],
    ['not_mine', { epoch: 2 }],
    ['no_responders', { instance: 'elsewhere' }],
  ]);
});

it('claims what was announced and never taken, and only while it has a place', async () => {
  const free = sweeping({ runs: { queued: runOf() } });
  await free.sweep.overdue();
  expect(free.takeOver.mock.calls).toEqual([['org', 'queued', 'woken', { epoch: 0 }]]);
  const full = sweeping({ runs: { queued: runOf() }, free: 0 });
  await full.sweep.overdue();
  expect(full.takeOver).not.toHaveBeenCalled();
});
