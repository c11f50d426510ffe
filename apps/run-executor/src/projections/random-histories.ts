import type { NewEvent } from '@runyard/contracts';
import { OTHER_USER, RunLog, USER } from './run-log';
import * as call from './sample-calls';
import * as log from './sample-events';
import { text } from './sample-texts';

/** Whole numbers below `bound`; the same seed gives the same numbers. */
export type Random = (bound: number) => number;

/** Mulberry32: small, and even enough for choosing histories. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

/** Texts that have broken somebody's database: NUL, half a surrogate pair, a reversed pair, an escape that is meant literally. */
const AWKWARD = ['x\0y', '\ud83d', '\udfe1\ud83d', 'C:\\u0000dir', '😀 "quoted" \n', '\ufdd0', ''];

const chance = (random: Random, percent: number): boolean => random(100) < percent;
const pick = <T>(random: Random, items: readonly T[]): T => items[random(items.length)] as T;
const anyText = (random: Random) =>
  chance(random, 10)
    ? { preview: 'a beginning', digest: 'f'.repeat(64), bytes: 70_000 }
    : text(chance(random, 30) ? pick(random, AWKWARD) : `text ${random(1_000)}`);

/** The commits of a run that lives as the executor lets runs live, with everything that may happen on the way. */
export function randomCommits(
  random: Random,
  id: string,
  changed: Parameters<typeof log.queued>[1] = {},
): NewEvent[][] {
  if (chance(random, 8)) return [[log.skipped(id)]];
  if (chance(random, 4)) return [[log.failed()]];
  const commits: NewEvent[][] = [[log.queued(id, { input: anyText(random), ...changed })]];
  if (chance(random, 8)) return [...commits, [log.cancelled()]];
  commits.push([log.started(), log.snapshot(), log.calling(1)]);
  const steps = 1 + random(5);
  for (let step = 1; step <= steps; step++) commits.push(...randomStep(random, step));
  if (chance(random, 15)) return commits;
  commits.push(...randomEnd(random, steps + 1));
  if (chance(random, 20)) commits.push([log.deleted()]);
  return commits;
}

function randomStep(random: Random, step: number): NewEvent[][] {
  const commits: NewEvent[][] = [];
  if (chance(random, 20))
    commits.push([log.attemptFailed(step, 1, log.usage(random(50), 0, 0, true)), log.calling(step, 2)]);
  const tools = ['search', 'read', 'write'].slice(0, random(4));
  const message = log.turn(step, tools, {
    text: chance(random, 50) ? anyText(random) : null,
    toolCalls: log.asked(step, tools, () => anyText(random)),
  });
  const calls = tools.map((tool, index) => ({
    id: `c${step}-${index}`,
    tool,
    undispatched: chance(random, 15),
  }));
  const dispatched = calls.filter(({ undispatched }) => !undispatched);
  commits.push([message, log.snapshot(), ...dispatched.map(({ id, tool }) => call.callStarted(id, tool))]);
  for (const { id, tool } of calls.filter(({ undispatched }) => undispatched))
    commits.push([call.callDenied(id, tool)]);
  for (const { id, tool } of shuffled(random, dispatched)) commits.push(...randomResult(random, id, tool));
  commits.push(...randomControl(random));
  commits.push([log.snapshot(), log.calling(step + 1)]);
  return commits;
}

function randomResult(random: Random, id: string, tool: string): NewEvent[][] {
  switch (random(6)) {
    case 0:
      return [[call.callFailed(id, tool)]];
    case 1:
      return [
        [call.callFailed(id, tool, { willRetry: true, retryInMs: 5 })],
        [call.callStarted(id, tool, { attempt: 2 })],
        [call.callSucceeded(id, tool, anyText(random))],
      ];
    case 2:
      return [
        [call.callAmbiguous(id, tool)],
        [call.callStarted(id, tool, { attempt: 2 })],
        [call.callCancelled(id, tool)],
      ];
    default:
      return [[call.callSucceeded(id, tool, anyText(random))]];
  }
}

function randomControl(random: Random): NewEvent[][] {
  switch (random(8)) {
    case 0:
      return [[log.pauseRequested()], [log.paused()], [log.resumed()], [log.recovered(2, 'executor-2')]];
    case 1:
      return [[log.extended()]];
    case 2:
      return [[log.modeSet()]];
    case 3:
      return [[log.cancelRequested()]];
    default:
      return [];
  }
}

function randomEnd(random: Random, step: number): NewEvent[][] {
  switch (random(4)) {
    case 0:
      return [[log.failed()]];
    case 1:
      return [
        [log.turn(step, ['write']), call.callStarted(`c${step}-0`, 'write')],
        [call.callAmbiguous(`c${step}-0`, 'write')],
        [log.cancelled()],
      ];
    default:
      return [[log.turn(step, []), log.succeeded(anyText(random))]];
  }
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const left = [...items];
  return items.map(() => left.splice(random(left.length), 1)[0] as T);
}

/** A log of several runs side by side, some in conversations or delegated by others. */
export function randomLog(random: Random, runs: number): RunLog {
  const written = new RunLog();
  const waiting = Array.from({ length: runs }, (_, index) => {
    const id = `run_${index}`;
    const parent = index > 0 && chance(random, 25) ? `run_${random(index)}` : null;
    return { id, commits: randomCommits(random, id, familyOf(random, parent)) };
  });
  while (waiting.length > 0) {
    const index = random(Math.min(waiting.length, 4));
    const next = waiting[index];
    const events = next?.commits.shift();
    if (next && events) written.run(next.id, events, 1 + random(50));
    else waiting.splice(index, 1);
    if (chance(random, 2))
      written.conversation(`dialog_${random(3)}`, [
        chance(random, 50) ? log.conversationCreated() : log.conversationDeleted(),
      ]);
  }
  return written;
}

const familyOf = (random: Random, parent: string | null): Parameters<typeof log.queued>[1] =>
  parent === null
    ? { agentId: `agent_${random(3)}`, userId: pick(random, [USER, OTHER_USER, null, 'not-a-uuid']) }
    : {
        parentRunId: parent,
        rootRunId: parent,
        depth: 1,
        trigger: 'delegated',
        conversationId: `dialog_${random(3)}`,
      };
