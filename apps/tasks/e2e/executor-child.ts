import 'reflect-metadata';
import { Platform } from '../../../deploy/local/platform';

// An executor in a process of its own, beside the usual services, in order to be killed.
const [folder = '', databaseUrl = '', natsUrl = ''] = process.argv.slice(2);

void Platform.start({
  folder,
  durable: false,
  httpPort: 0,
  opsPort: null,
  logLevel: 'silent',
  databaseUrl,
  natsUrl,
  executor: {},
  hostsTasks: false,
}).then(() => process.send?.('serving'));
