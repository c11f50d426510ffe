import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { manifestFiles } from './files';

const folder = join(__dirname, '../../../deploy/k8s');
for (const [path, text] of Object.entries(manifestFiles())) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
