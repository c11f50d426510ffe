import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { requestSubject, TRACE_HEADER } from '@runyard/contracts';
import { Metrics } from '@runyard/service';
import { collectedSpans, eventually } from '@runyard/testing';
import { answering, delegates, familyWorld, treeOf } from './e2e/family';
import { calls, failure, ok } from './e2e/script';
import type { Script } from './e2e/script';
import { TestExecutor } from './e2e/test-executor';
import { ORG, World } from './e2e/world';
import { RunTelemetry } from './telemetry.adapter';

jest.setTimeout(120_000);

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const GIVEN = `00-${TRACE}-b7ad6b7169203331-01`;
const SECRET = 'what nobody may read in a trace';

const SCRIPT: Script = {
  model: (_request, step) => (step === 1 ? calls(['look', `{"q":"${SECRET}"}`]) : { text: SECRET }),
  tool: () => ok(SECRET),
};

let world: World;
beforeAll(async () => void (world = await World.create()));
afterAll(() => world[Symbol.asyncDispose]());

function collected() {
  const { tracing, spans } = collectedSpans();
  const metrics = new Metrics('run-executor');
  return {
    telemetry: new RunTelemetry(tracing, metrics),
    metrics,
    spans,
  };
}

const ask = (key: string) =>
  world.bus.queues.publish(requestSubject(ORG), world.requestFor(key), { [TRACE_HEADER]: GIVEN });
const named = (spans: ReadableSpan[], name: string) => spans.filter((span) => span.name.startsWith(name));

it('follows a run through intake, model calls and tools in the trace that it was asked for in', async () => {
  const { telemetry, metrics, spans } = collected();
  const executor = await TestExecutor.start(world, SCRIPT, { telemetry });
  await ask('traced');
  await world.ended(world.runId('traced'));
  await eventually(() => named(spans(), 'invoke_agent').length === 1);
  const [intake] = named(spans(), 'intake');
  const [agent] = named(spans(), 'invoke_agent');
  const chats = named(spans(), 'chat model-1');
  const [tool] = named(spans(), 'execute_tool look');
  expect(spans().map((span) => span.spanContext().traceId)).toEqual(spans().map(() => TRACE));
  expect(intake?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
  expect(agent?.parentSpanContext?.spanId).toBe(intake?.spanContext().spanId);
  for (const span of [...chats, tool])
    expect(span?.parentSpanContext?.spanId).toBe(agent?.spanContext().spanId);
  expect(chats.map(({ attributes }) => attributes)).toEqual([
    expect.objectContaining({
      'gen_ai.operation.name': 'chat',
      'gen_ai.response.model': 'model-1',
      'gen_ai.response.finish_reasons': ['tool_calls'],
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 5,
      'runyard.run.id': world.runId('traced'),
    }),
    expect.objectContaining({ 'gen_ai.response.finish_reasons': ['stop'] }),
  ]);
  expect(JSON.stringify(spans().map(({ attributes, status }) => ({ attributes, status })))).not.toContain(
    SECRET,
  );
  // The trace is stored with what happened, so that whoever takes a run over goes on in it.
  const loaded = await executor.executor.runs.load(ORG, world.runId('traced'));
  expect(loaded.traceparent).toContain(TRACE);
  const measured = await metrics.registry.metrics();
  expect(measured).toMatch(/gen_ai_client_token_usage_sum\{[^}]*gen_ai_token_type="input"[^}]*\} 20/);
  expect(measured).toMatch(/runyard_tool_calls_total\{[^}]*outcome="succeeded"[^}]*\} 1/);
  expect(measured).toMatch(/runyard_runs_ended_total\{[^}]*state="succeeded"[^}]*\} 1/);
  await eventually(async () => /runyard_runs_driven\{[^}]*\} 0/.test(await metrics.registry.metrics()));
  await executor.stop();
});

it('marks what failed by its code', async () => {
  const { telemetry, spans } = collected();
  const broken: Script = {
    ...SCRIPT,
    tool: () => failure({ code: 'tool_error', transient: false, effect: 'none', text: SECRET }),
  };
  const executor = await TestExecutor.start(world, broken, { telemetry });
  await ask('failing');
  await world.ended(world.runId('failing'));
  await eventually(() => named(spans(), 'invoke_agent').length === 1);
  expect(named(spans(), 'execute_tool')[0]?.attributes['error.type']).toBe('tool_error');
  expect(JSON.stringify(spans().map(({ status }) => status))).not.toContain(SECRET);
  await executor.stop();
});

it('hangs what children do below the calls that they are, whichever executor does it', async () => {
  await using family = await familyWorld();
  const { telemetry, spans } = collected();
  const tasks = ['1', '1.1', '1.2', '1.1.1'].map((name) => `traced tree ${name}`);
  family.outside.script = answering((input) =>
    tasks.some((task) => task.startsWith(`${input}.`))
      ? [delegates(...tasks.filter((task) => task.slice(0, -2) === input)), { text: 'done' }]
      : [{ text: 'done' }],
  );
  const executors = [
    await TestExecutor.start(family, null, { telemetry }),
    await TestExecutor.start(family, null, { telemetry }),
  ];
  const [root = ''] = tasks;
  await family.bus.queues.publish(requestSubject(ORG), family.requestFor(root), { [TRACE_HEADER]: GIVEN });
  await family.ended(family.runId(root));
  const runs = [...(await treeOf(family, family.runId(root))).keys()];
  expect(runs).toHaveLength(4);
  const agentsOf = (runId: string | undefined) =>
    named(spans(), 'invoke_agent').filter(({ attributes }) => attributes['runyard.run.id'] === runId);
  // A run that waited for children was driven at least twice; each time is a span of its own.
  await eventually(() => runs.every((runId, index) => agentsOf(runId).length >= (index < 2 ? 2 : 1)), {
    withinMs: 30_000,
  });
  expect(new Set(spans().map((span) => span.spanContext().traceId))).toEqual(new Set([TRACE]));
  const above = (span: ReadableSpan | undefined) =>
    spans().find((one) => one.spanContext().spanId === span?.parentSpanContext?.spanId);
  for (const runId of runs.slice(1))
    for (const agent of agentsOf(runId)) {
      const intake = above(agent);
      const call = above(intake);
      expect([intake?.name, call?.name]).toEqual(['intake', 'execute_tool ask']);
      expect(call?.attributes['runyard.child_run.id']).toBe(runId);
      expect(above(call)?.attributes['runyard.run.id']).toBe(call?.attributes['runyard.run.id']);
    }
  await Promise.all(executors.map((executor) => executor.stop()));
});
