import type { ModelRoute, ToolDefinition } from '@runyard/contracts';
import { DEFAULT_BOUNDS } from '@runyard/contracts';
import * as fc from 'fast-check';
import { claim } from './claim';
import { decideControl } from './controls';
import type { Control } from './controls';
import type { Circumstances, NewRunEvent } from './decision';
import type { ChatMessage } from './dialog';
import { decideAll, foldNew } from './next';
import { isLive, NO_RUN } from './run';
import type { LiveRun, Run } from './run';
import { messagesOf } from './transcript';

/**
 * The deciders under a deterministic simulation: a scripted model, counting tools, executors that are lost between any two
 * commits or amid an effect, controls at any moment. What must hold in the end holds whatever the interleaving.
 */

const ROUTE: ModelRoute = {
  modelId: 'm',
  label: '',
  tier: 'fast',
  provider: { kind: 'recorded', recording: '' },
  model: 'm',
  contextWindow: 1_000_000,
  maxOutputTokens: 100,
};
const tool = (name: string, effect: 'read' | 'write', idempotent: boolean): ToolDefinition => ({
  name,
  description: '',
  inputSchema: {},
  effect,
  idempotent,
  source: { kind: 'builtin', name },
  timeoutMs: 1,
  endsRun: false,
});
const TOOLS = new Map(
  [tool('read', 'read', true), tool('put', 'write', true), tool('write', 'write', false)].map((t) => [t.name, t]),
);

interface World {
  run: Run;
  log: NewRunEvent[];
  now: number;
  /** Executions of each call, by call id. */
  effects: Map<string, number>;
  bought: Map<number, number>;
}

type Move =
  | { kind: 'effect'; pick: number; fails: boolean }
  | { kind: 'lost'; afterEffect: boolean; pick: number }
  | { kind: 'control'; control: Control }
  | { kind: 'time'; ms: number };

const circumstances = (now: number): Circumstances => ({
  now,
  runId: 'run_s',
  models: [ROUTE, ROUTE],
  tools: TOOLS,
  overheadBytes: 10,
  judge: (call) => (call.arguments === 'bad' ? { ok: false, code: 'invalid_arguments', text: '' } : { ok: true, digest: '' }),
  pauseTtlMs: 1_000_000,
});

function append(world: World, facts: NewRunEvent[]): void {
  world.now += 1;
  const base = foldNew(world.run, facts, world.now);
  const decided = decideAll(base, circumstances(world.now));
  world.run = foldNew(world.run, [...facts, ...decided], world.now);
  world.log.push(...facts, ...decided);
}

const born = (): NewRunEvent => ({
  type: 'RunQueued',
  data: {
    agentId: 'a',
    agentVersion: 1,
    ownerId: 'o',
    userId: 'o',
    requestedBy: 'user:o',
    trigger: 'manual',
    parentRunId: null,
    rootRunId: 'run_s',
    depth: 0,
    conversationId: null,
    tier: 'fast',
    requestDigest: '',
    input: { text: 'go' },
    definition: '',
    settings: { bounds: { ...DEFAULT_BOUNDS, maxSteps: 6, maxToolCalls: 9 }, mode: 'auto', approvalPolicy: 'park' },
    grantTokens: 100_000,
    previousRunId: null,
    slot: null,
  },
});

/** Effects under way: what the log has announced and nobody has settled. */
function underWay(run: LiveRun): string[] {
  if (run.phase.name === 'calling_model') return ['model'];
  if (run.phase.name !== 'calling_tools') return [];
  return run.phase.calls.filter((call) => call.status === 'in_flight').map((call) => call.callId);
}

function execute(world: World, run: LiveRun, effect: string, script: string[][], fails: boolean): NewRunEvent {
  if (effect === 'model') return model(world, run, script, fails);
  world.effects.set(effect, (world.effects.get(effect) ?? 0) + 1);
  const name = run.phase.name === 'calling_tools' ? (run.phase.calls.find((c) => c.callId === effect)?.tool ?? '') : '';
  const common = { step: run.steps, callId: effect, tool: name };
  if (!fails) return { type: 'ToolCallSucceeded', data: { ...common, observation: { text: 'ok' }, startedAt: 0 } };
  if (name === 'write') return { type: 'ToolCallAmbiguous', data: { ...common, cause: 'timeout', text: '' } };
  const failed = { error: { code: 'connection', text: '' }, observation: { text: 'no' }, startedAt: 0, attempt: 1 };
  return { type: 'ToolCallFailed', data: { ...common, ...failed, willRetry: true, retryInMs: 5 } };
}

function model(world: World, run: LiveRun, script: string[][], fails: boolean): NewRunEvent {
  if (run.phase.name !== 'calling_model') throw new Error('no call');
  const { step, attempt, route } = run.phase;
  const common = { step, attempt, modelId: 'm', usage: { input: 7, output: 3, cached: 0, estimated: false } };
  const next = attempt < 3 ? 'retry' : route === 0 ? 'fallback' : 'give_up';
  const error = { code: 'provider_unavailable', text: '', status: 503 };
  if (fails) return { type: 'ModelCallFailed', data: { ...common, error, partialText: null, next, retryInMs: 5 } };
  world.bought.set(step, (world.bought.get(step) ?? 0) + 1);
  const toolCalls = (script[step - 1] ?? []).map((name, index) => ({
    callId: `c${step}-${index}`,
    providerCallId: 'dup',
    tool: name === 'bad' ? 'read' : name,
    arguments: { text: name === 'bad' ? 'bad' : '{}' },
  }));
  const rest = { provider: 'p', model: 'm', text: { text: 't' }, reasoning: null, providerReason: '', startedAt: 0, providerState: null };
  return { type: 'ModelTurnCompleted', data: { ...common, ...rest, toolCalls, finish: 'stop' } };
}

function play(world: World, move: Move, script: string[][]): void {
  const { run } = world;
  if (!isLive(run)) return;
  if (move.kind === 'time') {
    world.now += move.ms;
    return append(world, []);
  }
  if (move.kind === 'control') {
    try {
      append(world, decideControl(run, move.control));
    } catch {
      // Refused with a reason: nothing happened.
    }
    return;
  }
  const effects = underWay(run);
  const effect = effects[move.pick % Math.max(1, effects.length)];
  if (move.kind === 'effect') return effect ? append(world, [execute(world, run, effect, script, move.fails)]) : append(world, []);
  // The executor is lost: amid an effect the world has moved, and nobody recorded it.
  if (move.afterEffect && effect) execute(world, run, effect, script, false);
  if (run.situation !== 'paused') append(world, claim(run, 'next', 'no_responders'));
}

/** Drives what is left to the end, without further faults. */
function finish(world: World, script: string[][]): void {
  for (let turn = 0; turn < 500 && isLive(world.run); turn++) {
    const { run } = world;
    if (run.situation === 'paused') append(world, decideControl(run, { type: 'ResumeRun' }));
    else if (run.woken || run.situation === 'queued') append(world, claim(run, 'last', 'woken'));
    else {
      const [effect] = underWay(run);
      world.now += 50;
      append(world, effect ? [execute(world, run, effect, script, false)] : []);
    }
  }
}

/** Every call in the dialog has exactly one result, directly after its turn and in order. */
function expectPaired(messages: readonly ChatMessage[]): void {
  messages.forEach((message, index) => {
    if (message.role !== 'assistant') return;
    const results = messages.slice(index + 1, index + 1 + message.toolCalls.length);
    expect(results.map((result) => (result.role === 'tool' ? result.callId : result.role))).toEqual(
      message.toolCalls.map((call) => call.callId),
    );
  });
}

const turns = fc.array(fc.array(fc.constantFrom('read', 'put', 'write', 'bad'), { maxLength: 3 }), { minLength: 1, maxLength: 8 });
const control: fc.Arbitrary<Control> = fc.oneof(
  fc.constant<Control>({ type: 'CancelRun', reason: 'user' }),
  fc.constant<Control>({ type: 'PauseRun', expiresAt: 1e12 }),
  fc.constant<Control>({ type: 'ResumeRun' }),
  fc.constant<Control>({ type: 'ExtendRun', steps: 2, toolCalls: 1, tokens: 0, seconds: 0 }),
  fc.constantFrom<Control>({ type: 'SetMode', mode: 'plan' }, { type: 'SetMode', mode: 'auto' }, { type: 'SetMode', mode: 'ask' }),
);
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('effect' as const), pick: fc.nat(3), fails: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lost' as const), afterEffect: fc.boolean(), pick: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('control' as const), control }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.integer({ min: 1, max: 100 }) }) },
);

it('holds its invariants under every interleaving of effects, losses and controls', () => {
  fc.assert(
    fc.property(turns, fc.array(move, { maxLength: 40 }), (script, moves) => {
      const world: World = { run: NO_RUN, log: [], now: 1_000, effects: new Map(), bought: new Map() };
      append(world, [born()]);
      for (const one of moves) play(world, one, script);
      finish(world, script);

      const ends = world.log.filter((event) => ['RunSucceeded', 'RunFailed', 'RunCancelled'].includes(event.type));
      expect(ends).toHaveLength(1);
      expect(world.log.at(-1)).toBe(ends[0]);
      expect(world.run.situation).toBe('ended');

      const turnsRecorded = world.log.flatMap((e) => (e.type === 'ModelTurnCompleted' ? [e.data.step] : []));
      expect(new Set(turnsRecorded).size).toBe(turnsRecorded.length);

      const writes = new Set(
        world.log.flatMap((e) => (e.type === 'ToolCallStarted' && !e.data.idempotent && e.data.effect === 'write' ? [e.data.callId] : [])),
      );
      for (const callId of writes) expect(world.effects.get(callId) ?? 0).toBeLessThanOrEqual(1);
      for (const callId of world.effects.keys())
        expect(world.log.some((e) => e.type === 'ToolCallStarted' && e.data.callId === callId)).toBe(true);

      if (world.run.situation === 'ended') expectPaired(messagesOf(world.run.transcript));
    }),
    { numRuns: 400 },
  );
});

it('starts nothing after a cancel was recorded', () => {
  fc.assert(
    fc.property(turns, fc.array(move, { maxLength: 30 }), (script, moves) => {
      const world: World = { run: NO_RUN, log: [], now: 1_000, effects: new Map(), bought: new Map() };
      append(world, [born()]);
      for (const one of moves) play(world, one, script);
      finish(world, script);
      const cancelled = world.log.findIndex((event) => event.type === 'RunCancelRequested');
      if (cancelled < 0) return;
      const after = world.log.slice(cancelled).map((event) => event.type);
      expect(after).not.toContain('ToolCallStarted');
      expect(after).not.toContain('ModelCallStarted');
    }),
    { numRuns: 300 },
  );
});
