import path from 'node:path';
import { startSpecProcess } from '@runyard/testing';
import type { NewRunEvent } from './decision';
import { decideAll, foldNew } from './next';
import { NO_RUN } from './run';
import type { Run } from './run';
import { decisionsOf, fold, hashOfAll, stateText, storedLogs, wanted } from './e2e/replay';
import { circumstances } from './e2e/simulation';

jest.setTimeout(120_000);

const CHILD = path.join(__dirname, 'e2e/replay-child.ts');

/** The logs are older than what an end says of its tokens; such an addition is no other decision. */
function asStored({ type, data }: NewRunEvent): object {
  if (!('spend' in data)) return { type, data };
  const { spend, ...rest } = data;
  expect(spend).toBeDefined();
  return { type, data: rest };
}

describe('C60 fifty stored logs under new code (temporalio/sdk-python#1109)', () => {
  const logs = storedLogs();

  it('decide again exactly what they hold, call ids, keys and all', () => {
    expect(logs).toHaveLength(50);
    for (const log of logs)
      expect(decisionsOf(log).map((events) => events.map(asStored))).toEqual(
        log.map(({ events, facts }) => events.slice(facts)),
      );
  });

  it('want nothing new where they stand', () => {
    for (const log of logs) expect(wanted(log)).toEqual([]);
  });

  it('come to the same state whatever the code does in between', () => {
    for (const log of logs) {
      let run: Run = NO_RUN;
      for (const { events, time } of log) {
        // Looks ahead, draws, and forgets it again; folds one by one instead of all at once.
        decideAll(foldNew(run, events, time), circumstances(time + 1_000_000));
        foldNew(run, [...events, ...events], time);
        for (const event of events) run = foldNew(run, [event], time);
      }
      expect(stateText(run)).toBe(stateText(fold(log)));
      expect(stateText(fold(log))).toBe(stateText(fold(JSON.parse(JSON.stringify(log)))));
    }
  });

  it('have the same states and decisions on machines of other time zones, clocks and random numbers', async () => {
    const here = hashOfAll();
    const zones = ['Pacific/Kiritimati', 'America/St_Johns'];
    const children = zones.map((zone, index) => startSpecProcess(CHILD, [zone, String(1e12 * (index + 1))]));
    const told = await Promise.all(
      children.map((child) =>
        child.message(
          (message): message is { zone: number; hash: string } =>
            typeof message === 'object' && message !== null && 'hash' in message,
        ),
      ),
    );
    expect(told.map(({ hash }) => hash)).toEqual([here, here]);
    expect(told.map(({ zone }) => zone)).toEqual([640, 210]);
    await Promise.all(children.map((child) => child.ended));
  });
});
