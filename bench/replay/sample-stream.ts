import { headers } from '@nats-io/transport-node';
import type { EventLogConnection } from '@runyard/event-log';
import { RunLog } from '../../apps/run-executor/src/projections/run-log';
import { typicalRun } from '../../apps/run-executor/src/projections/sample-events';

/** Runs whose commits are written before the server is asked whether it has kept up. */
const RUNS_AT_ONCE = 50;
const ITERATIONS = 10;

/** Events of a commit's body: each names its type once. */
const eventsIn = (body: Uint8Array): number => Buffer.from(body).toString().split('"specversion"').length - 1;

/** Writes whole runs to the stream until it holds at least so many events; says how many. */
export async function writeRuns(
  { connection, log }: EventLogConnection,
  wanted: number,
): Promise<{ events: number; commits: number }> {
  let [events, commits, run] = [0, 0, 0];
  while (events < wanted) {
    const sample = new RunLog(commits);
    for (let each = 0; each < RUNS_AT_ONCE && events < wanted; each++) {
      const from = sample.commits.length;
      typicalRun(sample, `run_${run++}`, ITERATIONS);
      for (const { body } of sample.commits.slice(from)) events += eventsIn(body);
    }
    for (const { subject, body, commitId } of sample.commits) {
      const own = headers();
      own.set('Nats-Msg-Id', commitId);
      connection.publish(subject, body, { headers: own });
    }
    commits += sample.commits.length;
    await connection.flush();
    // Without acknowledgements the server's buffer is the limit: it has stored what it counts.
    while ((await log.state('RUNS')).lastSequence < commits) await connection.flush();
  }
  return { events, commits };
}
