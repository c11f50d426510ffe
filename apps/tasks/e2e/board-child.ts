import 'reflect-metadata';
import { startService } from '@runyard/service';
import { TasksModule } from '../src/tasks.module';

// A board in a process of its own, in order to be killed or paused.
const [natsUrl = '', url = '', acrossUrl = '', watchMs = ''] = process.argv.slice(2);

void startService(
  TasksModule.forRoot({
    service: {
      nats: { servers: [natsUrl] },
      database: { url, acrossUrl, poolSize: 6 },
      ops: null,
      logLevel: 'error',
      rpcConcurrency: 64,
      shutdownMs: 5_000,
    },
    watchMs: Number(watchMs),
  }),
).then(() => process.send?.('serving'));
