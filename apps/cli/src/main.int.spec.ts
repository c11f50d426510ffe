import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

jest.setTimeout(120_000);

test('whoever has read enough of the output ends the command in peace', async () => {
  const typescript = join(__dirname, '../../../libs/testing/src/database-child.cjs');
  const child = spawn(process.execPath, ['-r', typescript, join(__dirname, 'main.ts'), '--help']);
  child.stdout.destroy();
  let said = '';
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  expect([code, said]).toEqual([0, '']);
});
