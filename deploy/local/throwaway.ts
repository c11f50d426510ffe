import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder for a platform that lives as long as a test or a benchmark. Postgres may run as another user than this process:
 * a folder that it cannot enter would put its data elsewhere, where nobody removes it.
 */
export function throwawayFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `runyard-${name}-`));
  chmodSync(folder, 0o755);
  return folder;
}
