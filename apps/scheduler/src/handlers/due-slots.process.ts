import { LogUnavailable } from '@runyard/event-log';
import type { Logger } from '@runyard/service';
import type { ClockAfter, ClockQueries, ClockRow, Scan } from '../projections/clock.queries';
import { CANCEL_AGAIN_MS } from './agent-clock.process';
import type { AgentClock } from './agent-clock.process';

/** Clocks in one transaction: their appends must fit into the time that a transaction may take. */
const BATCH = 250;
/** Clocks looked at side by side. */
const SIDE_BY_SIDE = 48;
/** An agent whose log cannot be decided about is looked at again after this long. */
const FAILED_MS = 30_000;
/** A slot that is due for this long and not decided is overdue. */
export const OVERDUE_MS = 60_000;

export interface DueSlotsPorts {
  clocks: ClockQueries;
  clock: AgentClock;
  /** The one clock of this service; epoch ms. */
  now: () => number;
  logger: Pick<Logger, 'error'>;
}

/** Finds agents whose plan is out of date or whose slot is due, and looks at each. Any number of schedulers may run it. */
export class DueSlots {
  private planned: string | undefined;
  private readonly failed = new Map<string, number>();

  constructor(private readonly ports: DueSlotsPorts) {}

  /** One pass over everything that needs a look. Throws where the log or the database is away. */
  async pass(): Promise<void> {
    const now = this.ports.now();
    for (const [key, until] of this.failed)
      if (until <= now || until > now + FAILED_MS) this.failed.delete(key);
    await this.planChanged(now);
    await this.takeAll('due', now);
  }

  /** Slots that are due for more than a minute and that nobody has decided about. */
  overdue(): Promise<number> {
    return this.ports.clocks.overdue(this.ports.now() - OVERDUE_MS);
  }

  private async planChanged(now: number): Promise<void> {
    const facts = await this.ports.clocks.factsPosition();
    if (facts === this.planned) return;
    await this.ports.clocks.addClocks();
    await this.takeAll('stale', now);
    // What another scheduler holds, or what failed, is still to be seen: then the next pass looks again.
    if (!(await this.ports.clocks.anyStale())) this.planned = facts;
  }

  private async takeAll(which: Scan['which'], now: number): Promise<void> {
    for (;;) {
      const scan = {
        which,
        now,
        cancelAgainBefore: now - CANCEL_AGAIN_MS,
        except: [...this.failed.keys()],
        most: BATCH,
      };
      const taken = await this.ports.clocks.take(scan, (rows) => this.lookAt(rows, now));
      if (taken < BATCH) return;
    }
  }

  private async lookAt(rows: ClockRow[], now: number): Promise<(readonly [ClockRow, ClockAfter])[]> {
    const looked: (readonly [ClockRow, ClockAfter])[] = [];
    const left = rows.values();
    const work = async () => {
      for (const row of left) {
        const result = await this.lookAtOne(row, now);
        if (result !== undefined) looked.push([row, result]);
      }
    };
    // Nobody may still be appending when the rows are given free.
    const ends = await Promise.allSettled(Array.from({ length: SIDE_BY_SIDE }, work));
    const failure = ends.find((end) => end.status === 'rejected');
    if (failure) throw failure.reason;
    return looked;
  }

  /** One agent that cannot be decided about must not keep the others from their slots. */
  private async lookAtOne(row: ClockRow, now: number): Promise<ClockAfter | undefined> {
    try {
      return await this.ports.clock.look(row, now);
    } catch (error) {
      if (error instanceof LogUnavailable) throw error;
      this.ports.logger.error(
        { err: error, org: row.org, agent: row.agentId },
        'an agent’s slot could not be decided about',
      );
      this.failed.set(`${row.org}/${row.agentId}`, now + FAILED_MS);
      return undefined;
    }
  }
}
