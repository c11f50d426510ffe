import type { RunEvent } from '@runyard/contracts';
import { archiveSource, blobs, rebuildAndCompare } from '@runyard/persistence';
import { eventually } from '@runyard/testing';
import type { ChatMessage } from '../../domain/dialog';
import { messagesOf } from '../../domain/transcript';
import { RUN_TABLES } from '../../projections/run-tables';
import { runsProjection } from '../../projections/runs.projection';
import { RunLog } from '../run-log.adapter';
import { Texts } from '../texts.adapter';
import type { TestExecutor } from './test-executor';
import { ORG, TERMINAL } from './world';
import type { World } from './world';

/** Spec-only: what must hold of every run, whatever happened to its executors (architecture, section 8). */

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

export const ofType = <T extends RunEvent['type']>(events: readonly RunEvent[], type: T): EventOf<T>[] =>
  events.filter((event): event is EventOf<T> => event.type === type);

/** Checks one ended run against its log, the world outside and its row. `input`: what it was asked. */
export async function expectSound(world: World, runId: string, input: string): Promise<RunEvent[]> {
  const events = await world.events(runId);
  expect(events.filter((event) => TERMINAL.includes(event.type))).toHaveLength(1);
  expect(TERMINAL).toContain(events.at(-1)?.type);
  expectTimesInOrder(events);
  expectTurnsBoughtOnce(world, events, input);
  expectEffectsOnce(world, runId, events);
  await expectTokensConserved(world, runId, events);
  expectPaired(await dialogOf(world, runId));
  return events;
}

function expectTimesInOrder(events: readonly RunEvent[]): void {
  events.forEach((event, index) => expect(event.time).toBeGreaterThanOrEqual(events[index - 1]?.time ?? 0));
}

/** No recorded model turn is bought again; every call that reached the provider was announced. */
function expectTurnsBoughtOnce(world: World, events: readonly RunEvent[], input: string): void {
  const turns = ofType(events, 'ModelTurnCompleted').map((event) => event.data.step);
  expect(turns).toEqual(turns.map((_, index) => index + 1));
  const steps = new Set(world.outside.calledFor(input).map((call) => call.step));
  for (const step of steps) {
    const made = world.outside.calledFor(input).filter((call) => call.step === step).length;
    const failed = ofType(events, 'ModelCallFailed').filter((event) => event.data.step === step).length;
    const started = ofType(events, 'ModelCallStarted').filter((event) => event.data.step === step).length;
    expect({ step, made, most: made <= Math.min(started, failed + 1) }).toEqual({ step, made, most: true });
    expect({ step, settled: failed + (turns.includes(step) ? 1 : 0) }).toEqual({ step, settled: started });
  }
}

/** No effect that must not be repeated happens twice; repetitions of others carry the same key; all were announced. */
function expectEffectsOnce(world: World, runId: string, events: readonly RunEvent[]): void {
  const made = world.outside.toolsOf(runId);
  for (const callId of new Set(made.map((call) => call.callId))) {
    const attempts = made.filter((call) => call.callId === callId);
    const started = ofType(events, 'ToolCallStarted').filter((event) => event.data.callId === callId);
    expect({ callId, times: attempts.length <= started.length }).toEqual({ callId, times: true });
    expect(new Set(attempts.map((call) => call.idempotencyKey)).size).toBe(1);
    expect(new Set(attempts.map((call) => call.position)).size).toBe(1);
    if (attempts[0]?.tool.effect === 'write' && !attempts[0].tool.idempotent)
      expect(attempts).toHaveLength(1);
  }
  const settled = events.flatMap((event) =>
    event.type === 'ToolCallSucceeded' ||
    event.type === 'ToolCallDenied' ||
    event.type === 'ToolCallCancelled' ||
    (event.type === 'ToolCallFailed' && !event.data.willRetry)
      ? [event.data.callId]
      : [],
  );
  expect(settled).toHaveLength(new Set(settled).size);
}

async function expectTokensConserved(
  world: World,
  runId: string,
  events: readonly RunEvent[],
): Promise<void> {
  const booked = [...ofType(events, 'ModelTurnCompleted'), ...ofType(events, 'ModelCallFailed')].map(
    (event) => event.data.usage,
  );
  const sum = (of: (usage: { input: number; output: number; cached: number }) => number) =>
    booked.reduce((all, usage) => all + of(usage), 0);
  const row = await world.row(runId);
  expect([row.input_tokens, row.output_tokens, row.cached_tokens, row.total_tokens].map(Number)).toEqual([
    sum((usage) => usage.input),
    sum((usage) => usage.output),
    sum((usage) => usage.cached),
    sum((usage) => usage.input + usage.output),
  ]);
}

/** The dialog up to the run's end, as the next turn of a conversation sees it; read by a process without any memory. */
export async function dialogOf(world: World, runId: string): Promise<readonly ChatMessage[]> {
  const { run } = await new RunLog(world.bus.log, new Texts(blobs(world.db)), 'test').load(ORG, runId);
  return run.situation === 'none' ? [] : messagesOf(run.transcript);
}

/** Every call has exactly one result, directly after its turn and in order; ids are unique (strict providers refuse others). */
export function expectPaired(messages: readonly ChatMessage[]): void {
  const asked = messages.flatMap((message) =>
    message.role === 'assistant' ? message.toolCalls.map((call) => call.callId) : [],
  );
  const answered = messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : []));
  expect(answered).toEqual(asked);
  expect(new Set(asked).size).toBe(asked.length);
  messages.forEach((message, index) => {
    if (message.role !== 'assistant') return;
    const results = messages.slice(index + 1, index + 1 + message.toolCalls.length);
    expect(results.every((result) => result.role === 'tool')).toBe(true);
  });
}

/** Rows equal their replay; nobody holds a slot or a place any more. */
export async function expectQuiet(world: World, executors: readonly TestExecutor[]): Promise<void> {
  await eventually(() => executors.every((one) => one.executor.drivers.runIds().length === 0), {
    withinMs: 60_000,
  });
  await eventually(
    async () => {
      expect(await world.rows('SELECT run_id FROM run_drivers')).toEqual([]);
      expect(await world.rows("SELECT run_id FROM run_slots WHERE kind = 'agent'")).toEqual([]);
      return true;
    },
    { withinMs: 60_000, everyMs: 100 },
  );
  const { tables } = await rebuildAndCompare({
    ownerUrl: world.database.ownerUrl,
    schema: RUN_TABLES.schema,
    tables: RUN_TABLES.verified,
    workTables: RUN_TABLES.work,
    lookupTables: RUN_TABLES.lookup,
    forms: RUN_TABLES.forms,
    projection: runsProjection(),
    source: archiveSource(world.db, 'RUNS'),
  });
  for (const { table, missing, extra, samples } of tables)
    expect({ table, missing, extra, samples }).toEqual({
      table,
      missing: 0,
      extra: 0,
      samples: { missing: [], extra: [] },
    });
}
