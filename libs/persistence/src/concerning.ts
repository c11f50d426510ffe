import type { ProjectedCommit, Projection, Tx } from './types';

/** Those commits that say something to a projection. */
export const concerning = (
  projection: Pick<Projection, 'concerns'>,
  commits: readonly ProjectedCommit[],
): readonly ProjectedCommit[] =>
  projection.concerns ? commits.filter((commit) => projection.concerns?.(commit)) : commits;

/** Applies what concerns the projection, as its projector does. */
export async function applyConcerning(
  projection: Pick<Projection, 'concerns' | 'apply'>,
  tx: Tx,
  commits: readonly ProjectedCommit[],
): Promise<void> {
  const found = concerning(projection, commits);
  if (found.length > 0) await projection.apply(tx, found);
}
