import { queued } from '../../projections/sample-events';
import { OWNER } from './people';
import type { World } from './world';

/** Spec-only: paused runs of the owner, which nobody drives and everybody may control; appended as they are. */
export async function parkedRuns(world: World, ids: readonly string[], agentId: string): Promise<void> {
  const own = { agentId, ownerId: OWNER, userId: OWNER, requestedBy: `user:${OWNER}` };
  const expiresAt = Date.now() + 3_600_000;
  for (const id of ids)
    await world.append('runs', id, [
      queued(id, own),
      { type: 'RunPauseRequested', data: {} },
      { type: 'RunPaused', data: { expiresAt } },
    ]);
  await Promise.all(ids.slice(-1).map((id) => world.row(id)));
}
