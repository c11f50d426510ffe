import type { AgentEvent } from '@runyard/contracts';

/** An event before the log has given it time and actor. */
export type Decided<E extends { type: string; data: unknown }> = E extends unknown
  ? Pick<E, 'type' | 'data'>
  : never;

export type AgentDecision = Decided<AgentEvent>;
