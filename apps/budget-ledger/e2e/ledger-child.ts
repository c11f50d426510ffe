import 'reflect-metadata';
import { startService } from '@runyard/service';
import { BudgetLedgerModule } from '../src/budget-ledger.module';

// A budget ledger in a process of its own, in order to be killed.
const [natsUrl = '', url = '', acrossUrl = ''] = process.argv.slice(2);

// Without a spec there is nobody left who would end it.
process.once('disconnect', () => process.exit());

void startService(
  BudgetLedgerModule.forRoot({
    service: {
      nats: { servers: [natsUrl] },
      database: { url, acrossUrl, poolSize: 4 },
      ops: null,
      logLevel: 'error',
      rpcConcurrency: 256,
      shutdownMs: 5_000,
    },
  }),
).then(() => process.send?.('serving'));
