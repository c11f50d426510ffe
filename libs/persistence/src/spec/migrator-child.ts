// The process that migrations.int.spec.ts kills in the middle of a step.
import { runMigrations } from '../migrations';
import { slowMigrations } from './slow-migrations';

const [url = ''] = process.argv.slice(2);
void runMigrations({
  url,
  schema: 'slow',
  migrations: slowMigrations(600),
  log: (line) => process.send?.(line),
}).then((ran) => process.send?.(ran));
