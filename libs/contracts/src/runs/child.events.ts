import type { DomainEvent } from '../envelope';
import type { Bounds } from './run.definition';
import type { Mode, Termination } from './run.states';

// Delegation in the log of the run that delegates: what it has given away, and what has become of it.

/**
 * A call of an agent tool: a child run with a grant of its own, carved out of what the parent has left. In the same commit
 * as the call's `ToolCallStarted`. The child's id derives from parent, call and attempt, so that repeating it starts nothing twice.
 */
export type ChildGranted = DomainEvent<
  'ChildGranted',
  {
    step: number;
    callId: string;
    tool: string;
    childRunId: string;
    agentId: string;
    attempt: number;
    /** Tokens that the child and all below it may spend; out of the parent's reach until `ChildSettled`. */
    grantTokens: number;
    /** What the parent has left of its bounds; the child's own may be tighter. `maxDepth` is the deepest depth of the whole tree. */
    bounds: Bounds;
    /** The parent's mode; the child's is never looser. */
    mode: Mode;
  }
>;

/** The child's request lies on the work queue: from here on the parent need not be driven to get it started. */
export type ChildRequested = DomainEvent<'ChildRequested', { callId: string; childRunId: string }>;

/** Nothing but children is under way: nobody drives the run and its deadline stands still until they have settled (P5.3). */
export type RunAwaitingChildren = DomainEvent<'RunAwaitingChildren', { children: number }>;

/** The child has ended; what it did not use is the parent's again. Together with the event that settles the call. */
export type ChildSettled = DomainEvent<
  'ChildSettled',
  {
    step: number;
    callId: string;
    childRunId: string;
    agentId: string;
    state: 'succeeded' | 'failed' | 'cancelled' | 'skipped';
    termination: Termination | null;
    reason: string | null;
    /** Tokens of the child and all below it. */
    tokens: number;
    /** Stream sequence of the child's last commit, which holds its end. */
    sequence: number;
  }
>;

export type ChildEvent = ChildGranted | ChildRequested | RunAwaitingChildren | ChildSettled;

export const CHILD_EVENTS: Readonly<Record<ChildEvent['type'], true>> = {
  ChildGranted: true,
  ChildRequested: true,
  RunAwaitingChildren: true,
  ChildSettled: true,
};

export const isChildEvent = (event: { type: string }): event is ChildEvent =>
  Object.hasOwn(CHILD_EVENTS, event.type);
