import { setTimeout as delay } from 'node:timers/promises';
import { Problem } from '@runyard/contracts';
import type { Tx } from '@runyard/persistence';
import { cataloguePosition } from '../projections/positions.queries';

/** Longest wait of a reaction for rows; then it starts again from its checkpoint. */
const WAIT_MS = 5_000;
const LOOK_MS = 20;

/** Waits inside a reaction's transaction until the rows of agents reflect a sequence of AGENTS. Throws `unavailable`. */
export async function catalogueAsFarAs(tx: Tx, sequence: number): Promise<void> {
  for (
    const until = performance.now() + WAIT_MS;
    (await cataloguePosition(tx)) < sequence;
    await delay(LOOK_MS)
  )
    if (performance.now() > until)
      throw new Problem('unavailable', `The rows of agents have not reached ${sequence} yet`);
}
