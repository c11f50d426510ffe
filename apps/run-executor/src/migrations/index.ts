import type { Migration } from '@runyard/persistence';
import { references } from './0001-references';
import { agentRuns } from './0002-agent-runs';
import { agentRunsIndexes } from './0003-agent-runs-indexes';
import { stepsAndEntries } from './0004-steps-and-entries';
import { operations } from './0005-operations';
import { access } from './0006-access';
import { erasure } from './0007-erasure';
import { runOrigins } from './0008-run-origins';
import { childRuns } from './0009-child-runs';
import { retention } from './0010-retention';
import { bulkActions } from './0011-bulk-actions';
import { entriesOfBatches } from './0012-entries-of-batches';

/** Steps of the schema `run_executor`, oldest first. What was released is never changed; a mistake is mended by a new step. */
export const RUN_MIGRATIONS: readonly Migration[] = [
  references,
  agentRuns,
  agentRunsIndexes,
  stepsAndEntries,
  operations,
  access,
  erasure,
  runOrigins,
  childRuns,
  retention,
  bulkActions,
  entriesOfBatches,
];
