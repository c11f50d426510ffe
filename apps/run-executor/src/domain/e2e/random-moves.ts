import type { Control } from '../controls';
import { append, born, finish, newWorld, play } from './simulation';
import type { Move, World } from './simulation';

/** Spec-only: histories by seed. The corpus of stored logs was made with it; the same seed gives the same history. */

function seeded(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

const TOOLS = ['read', 'put', 'write', 'bad'];
const CONTROLS: Control[] = [
  { type: 'PauseRun', expiresAt: 1e12 },
  { type: 'ResumeRun' },
  { type: 'ExtendRun', steps: 2, toolCalls: 1, tokens: 0, seconds: 0 },
  { type: 'SetMode', mode: 'plan' },
  { type: 'SetMode', mode: 'auto' },
  { type: 'CancelRun', reason: 'user' },
];

function moveOf(random: (bound: number) => number): Move {
  const kind = random(10);
  if (kind < 6) return { kind: 'effect', pick: random(4), fails: random(4) === 0 };
  if (kind < 8) return { kind: 'lost', afterEffect: random(2) === 0, pick: random(4) };
  return kind < 9
    ? { kind: 'control', control: CONTROLS[random(CONTROLS.length)] as Control }
    : { kind: 'time', ms: 1 + random(60) };
}

/** Every third history is whole, the others stop somewhere. */
export function historyOf(seed: number): World {
  const random = seeded(seed);
  const script = Array.from({ length: 1 + random(4) }, () =>
    Array.from({ length: random(4) }, () => TOOLS[random(TOOLS.length)] as string),
  );
  const world = newWorld();
  append(world, [born()]);
  for (let moves = 4 + random(8); moves > 0; moves--) play(world, moveOf(random), script);
  if (seed % 3 === 0) finish(world, script);
  return world;
}
