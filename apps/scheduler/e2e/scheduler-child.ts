import 'reflect-metadata';
import { startService } from '@runyard/service';
import { SchedulerModule } from '../src/scheduler.module';

// A scheduler in a process of its own, in order to be killed. Its parent sets its clock.
const [natsUrl = '', url = '', acrossUrl = '', at = ''] = process.argv.slice(2);
let now = Number(at);
process.on('message', (time: number) => (now = time));

void startService(
  SchedulerModule.forRoot(
    {
      service: {
        nats: { servers: [natsUrl] },
        database: { url, acrossUrl, poolSize: 4 },
        ops: null,
        logLevel: 'error',
        rpcConcurrency: 16,
        shutdownMs: 5_000,
      },
      tickMs: 50,
    },
    { processMetrics: false },
    () => now,
  ),
).then(() => process.send?.('serving'));
