import { Problem } from '@runyard/contracts';
import type { AgentRow, NextRunsAnswer } from '@runyard/contracts';
import type { Call } from '../door/call';
import type { Services } from './services.adapter';

type Scheduled = AgentRow & { next_run_at?: string | null };

/**
 * When agents run next: the scheduler's answer beside the registry's. It is asked for the position that the rows
 * reflect, so that a change shows in the answer to itself. Where the scheduler cannot be asked, the member is left out:
 * null says that there is no next run, and nobody knows that then.
 */
export class NextRuns {
  constructor(private readonly services: Services) {}

  async of(call: Call, row: AgentRow): Promise<Scheduled> {
    const [answered = row] = await this.ofAll(call, [row]);
    return answered;
  }

  async ofAll(call: Call, rows: AgentRow[]): Promise<Scheduled[]> {
    if (rows.length === 0) return rows;
    const input = { agent_ids: rows.map(({ agent_id }) => agent_id), at_least: newest(rows) };
    try {
      const { data } = await this.services.scheduler<NextRunsAnswer>(call, 'schedules.next_runs', input);
      const times = new Map(data.map(({ agent_id, next_run_at }) => [agent_id, next_run_at]));
      return rows.map((row) => ({ ...row, next_run_at: times.get(row.agent_id) ?? null }));
    } catch (error) {
      if (error instanceof Problem && error.code === 'unavailable') return rows;
      throw error;
    }
  }

  /** Refuses a cron expression that never fires before anything is saved; the scheduler alone reads them. */
  async requireFiring(call: Call): Promise<void> {
    const { schedule } = call.input;
    if (typeof schedule !== 'object' || schedule === null || Reflect.get(schedule, 'type') !== 'cron') return;
    await this.services.scheduler(call, 'schedules.preview', { schedule, count: 1 });
  }
}

/** The newest position among rows. */
function newest(rows: readonly AgentRow[]): string | undefined {
  const sequence = ({ position }: AgentRow) => Number(position.split('.')[0]);
  return rows.reduce((a, b) => (sequence(b) > sequence(a) ? b : a)).position;
}
