export { connectDatabase } from './database';
export type { DatabaseOptions } from './database';
export { isPassing, SecondConnection, TransactionMisused } from './database.errors';
export { toSafeInteger, toSafeIntegerOrNull } from './integers';
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
