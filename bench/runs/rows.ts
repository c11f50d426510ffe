import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';

const LOOK_MS = 5;
const PATIENCE_MS = 300_000;

/** Looks at the product's tables as their owner, beside the product. */
export class Rows {
  private constructor(private readonly client: Client) {}

  static async connect(ownerUrl: string): Promise<Rows> {
    const client = new Client({ connectionString: ownerUrl });
    await client.connect();
    return new Rows(client);
  }

  /** Up to which sequence of RUNS both projections have come: the rows, and the archive. */
  async position(): Promise<number> {
    const { rows } = await this.client.query<{ position: string }>(
      `SELECT least((SELECT position FROM run_executor.projection_checkpoints WHERE projection = 'runs'),
         (SELECT position FROM archive.projection_checkpoints WHERE projection = 'archive' AND stream = 'RUNS')) AS position`,
    );
    return Number(rows[0]?.position ?? 0);
  }

  /** Waits until the rows reflect a sequence; milliseconds that it took. */
  async reach(sequence: number): Promise<number> {
    const startedAt = performance.now();
    while ((await this.position()) < sequence) {
      if (performance.now() - startedAt > PATIENCE_MS) throw new Error(`the rows do not reach ${sequence}`);
      await wait(LOOK_MS);
    }
    return performance.now() - startedAt;
  }

  /** Runs that have ended well, and what they left: every one must have its row, its steps and its trajectory. */
  async succeeded(): Promise<{ runs: number; steps: number; entries: number; commits: number }> {
    const { rows } = await this.client.query<Record<'runs' | 'steps' | 'entries' | 'commits', string>>(
      `SELECT (SELECT count(*) FROM run_executor.agent_runs WHERE state = 'succeeded') AS runs,
         (SELECT count(*) FROM run_executor.agent_steps) AS steps,
         (SELECT coalesce(sum(jsonb_array_length(entries)), 0) FROM run_executor.agent_runs) AS entries,
         (SELECT count(*) FROM archive.event_log WHERE stream = 'RUNS') AS commits`,
    );
    const [row] = rows;
    return {
      runs: Number(row?.runs),
      steps: Number(row?.steps),
      entries: Number(row?.entries),
      commits: Number(row?.commits),
    };
  }

  async stateOf(runId: string): Promise<{ state: string; reason: string | null } | undefined> {
    const { rows } = await this.client.query<{ state: string; reason: string | null }>(
      'SELECT state, reason FROM run_executor.agent_runs WHERE run_id = $1',
      [runId],
    );
    return rows[0];
  }

  close(): Promise<void> {
    return this.client.end();
  }
}
