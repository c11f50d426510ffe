import type { ModelRoute, ToolDefinition } from '@runyard/contracts';
import { DEFAULT_BOUNDS } from '@runyard/contracts';
import { claim } from '../claim';
import { decideControl } from '../controls';
import type { Control } from '../controls';
import type { Circumstances, NewRunEvent } from '../decision';
import { decideAll, foldNew } from '../next';
import { isLive, NO_RUN } from '../run';
import type { Run } from '../run';
import { execute, underWay } from './simulated-effects';
import type { Outside } from './simulated-effects';

/**
 * Spec-only. The deciders under a deterministic simulation: a scripted model, counting tools, executors that are lost between any two
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
  [tool('read', 'read', true), tool('put', 'write', true), tool('write', 'write', false)].map((t) => [
    t.name,
    t,
  ]),
);

export interface World extends Outside {
  run: Run;
  log: NewRunEvent[];
  /** What was appended together; the first `facts` events came from outside, the rest was decided from them. */
  commits: { time: number; facts: number; events: NewRunEvent[] }[];
  now: number;
}

export type Move =
  | { kind: 'effect'; pick: number; fails: boolean }
  | { kind: 'lost'; afterEffect: boolean; pick: number }
  | { kind: 'control'; control: Control }
  | { kind: 'time'; ms: number };

export const circumstances = (now: number): Circumstances => ({
  now,
  runId: 'run_s',
  models: [ROUTE, ROUTE],
  tools: TOOLS,
  overheadBytes: 10,
  judge: (call) =>
    call.arguments === 'bad' ? { ok: false, code: 'invalid_arguments', text: '' } : { ok: true, digest: '' },
  childRunId: (callId, attempt) => `run_s.${callId}.${attempt}`,
  parallelChildren: 3,
  pauseTtlMs: 1_000_000,
});

export function append(world: World, facts: NewRunEvent[]): void {
  world.now += 1;
  const base = foldNew(world.run, facts, world.now);
  const decided = decideAll(base, circumstances(world.now));
  world.run = foldNew(world.run, [...facts, ...decided], world.now);
  world.log.push(...facts, ...decided);
  if (facts.length + decided.length > 0)
    world.commits.push({ time: world.now, facts: facts.length, events: [...facts, ...decided] });
}

export const born = (): NewRunEvent => ({
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
    settings: {
      bounds: { ...DEFAULT_BOUNDS, maxSteps: 6, maxToolCalls: 9 },
      mode: 'auto',
      approvalPolicy: 'park',
    },
    grantTokens: 100_000,
    previousRunId: null,
    slot: null,
  },
});

export function play(world: World, move: Move, script: string[][]): void {
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
  if (move.kind === 'effect')
    return effect ? append(world, [execute(world, run, effect, script, move.fails)]) : append(world, []);
  // The executor is lost: amid an effect the world has moved, and nobody recorded it.
  if (move.afterEffect && effect) execute(world, run, effect, script, false);
  if (run.situation !== 'paused') append(world, claim(run, 'next', 'no_responders'));
}

/** Drives what is left to the end, without further faults. */
export function finish(world: World, script: string[][]): void {
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

export const newWorld = (): World => ({
  run: NO_RUN,
  log: [],
  commits: [],
  now: 1_000,
  effects: new Map(),
  bought: new Map(),
});
