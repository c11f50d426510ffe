import { join } from 'node:path';
import type { CreatedOrg, NewOrg } from '../../../deploy/local/installation';
import { Platform } from '../../../deploy/local/platform';
import { ProcessPlatform } from '../../../deploy/local/process-platform';
import { inProcesses, pathOf } from './topology.config';

const ROOT = join(__dirname, '../../..');

/** The product as end-to-end specs use it: in one process, or in many. */
export interface Product {
  apiUrl: string;
  folders: { recordings: string };
  createOrg(input: NewOrg): Promise<CreatedOrg>;
  stop(): Promise<void>;
}

/** Starts the product on given servers, in the topology that the run of tests was asked for. */
export function startProduct(servers: {
  folder: string;
  databaseUrl: string;
  natsUrl: string;
}): Promise<Product> {
  const settings = { ...servers, durable: false, httpPort: 0, logLevel: 'warn' } as const;
  if (!inProcesses()) return Platform.start({ ...settings, opsPort: 0, executor: {} });
  return ProcessPlatform.start({
    ...settings,
    env: { PATH: pathOf() },
    mainOf: (service) => [
      '-r',
      join(ROOT, 'libs/testing/src/database-child.cjs'),
      join(ROOT, `apps/${service}/src/main.ts`),
    ],
  });
}
