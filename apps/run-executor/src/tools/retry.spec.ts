import { afterFailure, FIRST_RETRY_DELAY_MS, MAX_RETRY_AFTER_MS, MAX_TOOL_ATTEMPTS } from './retry';
import {
  broken,
  cancelled,
  misconfigured,
  notSent,
  refused,
  timedOut,
  tooLarge,
  toolError,
} from './outcomes';
import type { ToolResult } from './types';

const READ = { effect: 'read', idempotent: false } as const;
const IDEMPOTENT = { effect: 'write', idempotent: true } as const;
const WRITE = { effect: 'write', idempotent: false } as const;

describe('only reading or idempotent tools, or failures that precede sending, are retried (P4.1)', () => {
  it.each<[string, ToolResult, string, string, string]>([
    ['success', { ok: true, text: '' }, 'observe', 'observe', 'observe'],
    ['an error of its own', toolError('no'), 'observe', 'observe', 'observe'],
    ['an overload', toolError('503', true), 'retry', 'retry', 'observe'],
    ['a time-out', timedOut(1_000), 'retry', 'retry', 'ambiguous'],
    ['a broken connection', broken('reset'), 'retry', 'retry', 'ambiguous'],
    ['nothing sent', notSent('refused connection'), 'retry', 'retry', 'retry'],
    ['cancelled before', cancelled(false), 'observe', 'observe', 'observe'],
    ['cancelled while working', cancelled(true), 'observe', 'observe', 'ambiguous'],
    ['too large', tooLarge('x', 1), 'observe', 'observe', 'observe'],
    ['refused', refused('private address'), 'observe', 'observe', 'observe'],
    ['misconfigured', misconfigured('no such source'), 'observe', 'observe', 'observe'],
  ])('%s', (_, result, read, idempotent, write) => {
    expect(afterFailure(READ, result, 1).then).toBe(read);
    expect(afterFailure(IDEMPOTENT, result, 1).then).toBe(idempotent);
    expect(afterFailure(WRITE, result, 1).then).toBe(write);
  });

  it('waits longer each time, and gives up', () => {
    const decisions = Array.from({ length: MAX_TOOL_ATTEMPTS }, (_, i) =>
      afterFailure(READ, notSent('down'), i + 1),
    );
    expect(decisions).toEqual([
      { then: 'retry', delayMs: FIRST_RETRY_DELAY_MS },
      { then: 'retry', delayMs: FIRST_RETRY_DELAY_MS * 2 },
      { then: 'observe', exhausted: true },
    ]);
  });

  it('waits as long as it is asked to, unless that is too long', () => {
    expect(afterFailure(READ, toolError('429', true, 5_000), 1)).toEqual({ then: 'retry', delayMs: 5_000 });
    expect(afterFailure(READ, toolError('429', true, MAX_RETRY_AFTER_MS + 1), 1)).toEqual({
      then: 'observe',
      exhausted: false,
    });
  });

  it('an ambiguous write stays ambiguous at every attempt', () => {
    expect(afterFailure(WRITE, timedOut(1), MAX_TOOL_ATTEMPTS + 1)).toEqual({ then: 'ambiguous' });
  });
});
