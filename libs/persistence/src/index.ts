export { connectDatabase } from './database';
export type { DatabaseOptions } from './database';
export { isPassing, SecondConnection, TransactionMisused } from './database.errors';
export { toSafeInteger } from './integers';
export { runMigrations, SchemaTooNew } from './migrations';
export type { Migration, MigrationOptions } from './migrations';
export { CURRENT_ORG, enableTenantPolicies, grantAcrossOnly } from './policies';
export type { PolicyOptions } from './policies';
export {
  ACROSS_GROUP,
  acrossRoleOf,
  derivedPasswords,
  ensureRoles,
  roleOf,
  schemaOf,
  TENANT_GROUP,
  urlFor,
} from './roles';
export * from './types';
export { archiveMigrations } from './migrations/archive';
export { instantOf, rowsAsOf, sequenceNamed } from './as-of';
export type { Include, PastRows } from './as-of';
export { archiveSource } from './archive-source';
export { ARCHIVE, ArchiveMismatch, archiveProjection } from './archive.projection';
export { blobs } from './blobs';
export type { Blobs } from './blobs';
export { CheckpointContradiction } from './checkpoints';
export type { CheckpointKey } from './checkpoints';
export { cleanJson, cleanText, restoreJson, restoreText } from './clean-text';
export { lockKey } from './lock-key';
export { positionReached } from './position';
export { PoisonCommit } from './projection-faults';
export { decodeCursor, invalidCursor, pageOf } from './pages';
export type { KeyKind, Page } from './pages';
export { runProjection } from './projection-runner';
export type { ProjectionOptions } from './projection-options';
export { rebuildAndCompare, SourceTooShort } from './rebuild';
export type { RebuildOptions, Verification } from './rebuild';
export { records } from './records';
export { Statements } from './statements';
export type { TableComparison, TableForms } from './compare-tables';
export { eventsOf, mayHold, UnreadableCommit } from './projected-events';
export type { ProjectedEvent } from './projected-events';
export { projectionLockKey } from './projection-lock';
export { ReplayBeside, ReplayMismatch, replaySchemaOf } from './replay';
export type { ReplayState } from './replay-session';
export type { ReplayTarget } from './replay';
export { ReplayInPlace } from './replay-in-place';
export { SwitchRefused } from './switch-rows';
export type { SwitchedTable } from './switch-rows';
export { isOrg, RowChanges } from './row-changes';
export type { RowTable } from './row-changes';
