import * as fc from 'fast-check';
import type { Control } from './controls';
import type { NewRunEvent } from './decision';
import type { ChatMessage } from './dialog';
import { append, born, finish, newWorld, play } from './e2e/simulation';
import type { Move } from './e2e/simulation';
import { messagesOf } from './transcript';

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

/** What the end says that the run has spent, its lines and their sum being the same. */
function spentIn([end]: readonly NewRunEvent[]): number | undefined {
  const spend = end && 'spend' in end.data ? end.data.spend : undefined;
  expect(spend?.lines.reduce((sum, line) => sum + line.input + line.output, 0)).toBe(spend?.own);
  return spend?.own;
}

/** What was booked attempt by attempt. */
const bookedIn = (log: readonly NewRunEvent[]): number =>
  log.reduce((sum, { data }) => ('usage' in data ? sum + data.usage.input + data.usage.output : sum), 0);

const turns = fc.array(fc.array(fc.constantFrom('read', 'put', 'write', 'bad'), { maxLength: 3 }), {
  minLength: 1,
  maxLength: 8,
});
const control: fc.Arbitrary<Control> = fc.oneof(
  fc.constant<Control>({ type: 'CancelRun', reason: 'user' }),
  fc.constant<Control>({ type: 'PauseRun', expiresAt: 1e12 }),
  fc.constant<Control>({ type: 'ResumeRun' }),
  fc.constant<Control>({ type: 'ExtendRun', steps: 2, toolCalls: 1, tokens: 0, seconds: 0 }),
  fc.constantFrom<Control>(
    { type: 'SetMode', mode: 'plan' },
    { type: 'SetMode', mode: 'auto' },
    { type: 'SetMode', mode: 'ask' },
  ),
);
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('effect' as const), pick: fc.nat(3), fails: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('lost' as const), afterEffect: fc.boolean(), pick: fc.nat(3) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('control' as const), control }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.integer({ min: 1, max: 100 }) }),
  },
);

it('holds its invariants under every interleaving of effects, losses and controls', () => {
  fc.assert(
    fc.property(turns, fc.array(move, { maxLength: 40 }), (script, moves) => {
      const world = newWorld();
      append(world, [born()]);
      for (const one of moves) play(world, one, script);
      finish(world, script);

      const ends = world.log.filter((event) =>
        ['RunSucceeded', 'RunFailed', 'RunCancelled'].includes(event.type),
      );
      expect(ends).toHaveLength(1);
      expect(world.log.at(-1)).toBe(ends[0]);
      expect(spentIn(ends)).toBe(bookedIn(world.log));
      expect(world.run.situation).toBe('ended');

      const turnsRecorded = world.log.flatMap((e) => (e.type === 'ModelTurnCompleted' ? [e.data.step] : []));
      expect(new Set(turnsRecorded).size).toBe(turnsRecorded.length);

      const writes = new Set(
        world.log.flatMap((e) =>
          e.type === 'ToolCallStarted' && !e.data.idempotent && e.data.effect === 'write'
            ? [e.data.callId]
            : [],
        ),
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
      const world = newWorld();
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
