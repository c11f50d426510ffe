export { freshDatabase } from './database';
export type { TestDatabase, TestSchema } from './database';
