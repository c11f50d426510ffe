import { DamagedCommit } from '../../run-executor/src/projections/commits';
import { UnreadableCommit } from '@runyard/persistence';

/** A commit that cannot be read: the message says where, and a stack would only hide it. */
export const isDamage = (error: unknown): boolean =>
  error instanceof DamagedCommit || error instanceof UnreadableCommit;
