import { connectDatabase } from '@runyard/persistence';
import { FakeBudgets } from './fake-budgets';
import { Outside, placeIn } from './script';
import type { Answer } from './script';
import { TestExecutor } from './test-executor';
import type { ToolResult } from '../../tools/types';

// An executor in a process of its own, in order to be killed. Its models and tools are an HTTP server of the spec's.
const [natsUrl = '', url = '', acrossUrl = '', outsideUrl = ''] = process.argv.slice(2);

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
  model: ({ messages, signal }) => ask<Answer>('model', placeIn(messages), signal),
  tool: ({ runId, callId, idempotencyKey, tool, signal }) =>
    ask<ToolResult>('tool', { runId, callId, idempotencyKey, tool: tool.name }, signal),
});
outside.remembers = false;

void TestExecutor.start({
  nats: { url: natsUrl },
  database: { connect },
  db: connect(),
  outside,
  budgets: new FakeBudgets(),
  logLevel: 'silent',
  guests: new Set(),
}).then((executor) => {
  process.on('SIGTERM', () => void executor.stop().then(() => process.exit(0)));
  process.send?.({ instance: executor.executor.instance });
});
