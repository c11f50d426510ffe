import { connectDatabase } from '@runyard/persistence';
import { NatsRpcClient } from '@runyard/service';
import { ledgerBudgets } from '../budgets.adapter';
import { FakeBudgets } from './fake-budgets';
import { Outside, placeIn } from './script';
import type { Answer } from './script';
import { TestExecutor } from './test-executor';
import type { ToolResult } from '../../tools/types';

// An executor in a process of its own, in order to be killed. Its models and tools are an HTTP server of the spec's.
// `ledger`: it asks the real one, otherwise nobody has a cap.
const [natsUrl = '', url = '', acrossUrl = '', outsideUrl = '', budgets = ''] = process.argv.slice(2);

const connect = () =>
  connectDatabase({ url, acrossUrl, applicationName: 'executor child', poolSize: 4, acrossPoolSize: 4 });

async function ask<T>(what: string, body: object, signal: AbortSignal): Promise<T> {
  const response = await fetch(`${outsideUrl}/${what}`, {
    method: 'POST',
    body: JSON.stringify({ ...body, pid: process.pid }),
    signal,
  });
  return (await response.json()) as T;
}

const outside = new Outside({
  model: ({ messages, maxOutputTokens, signal }) =>
    ask<Answer>('model', { ...placeIn(messages), maxOutputTokens }, signal),
  tool: ({ runId, callId, idempotencyKey, tool, signal }) =>
    ask<ToolResult>('tool', { runId, callId, idempotencyKey, tool: tool.name }, signal),
});
outside.remembers = false;

// Without a spec there is nobody left who would end it.
process.once('disconnect', () => process.exit());

void TestExecutor.start(
  {
    nats: { url: natsUrl },
    database: { connect },
    db: connect(),
    outside,
    budgets: new FakeBudgets(),
    logLevel: 'silent',
    guests: new Set(),
  },
  null,
  budgets === 'ledger' ? { budgets: (connection) => ledgerBudgets(new NatsRpcClient(connection)) } : {},
).then((executor) => {
  process.on('SIGTERM', () => void executor.stop().then(() => process.exit(0)));
  process.send?.({ instance: executor.executor.instance });
});
