import { DEFAULT_BOUNDS } from '@runyard/contracts';
import type { NewEvent, SpendLine } from '@runyard/contracts';

/** Spec-only. Runs as the executor's log has them: how they begin, and what they have spent in the end. */

export const line = (over: Partial<SpendLine> = {}): SpendLine => ({
  modelId: 'fast',
  model: 'fast-1',
  provider: 'recorded',
  tier: 'fast',
  calls: 1,
  input: 100,
  output: 20,
  cached: 0,
  estimated: 0,
  ...over,
});

/** Whose run it is, and what it comes to. */
export interface End {
  owner: string;
  agentId?: string;
  lines?: SpendLine[];
  children?: number;
  root?: string;
}

/** The run's beginning; one with another root was delegated by it. */
export const runQueued = (runId: string, { owner, agentId = 'agent', root = runId }: End): NewEvent => ({
  type: 'RunQueued',
  data: {
    agentId,
    agentVersion: 1,
    ownerId: owner,
    userId: owner,
    requestedBy: `user:${owner}`,
    trigger: root === runId ? 'manual' : 'delegated',
    parentRunId: root === runId ? null : root,
    rootRunId: root,
    depth: root === runId ? 0 : 1,
    conversationId: null,
    tier: 'fast',
    requestDigest: '',
    input: { text: 'go' },
    definition: '',
    settings: { bounds: DEFAULT_BOUNDS, mode: 'auto', approvalPolicy: 'park' },
    grantTokens: 1_000,
    previousRunId: null,
    slot: null,
  },
});

/** The run's end; what is its own is the sum of its lines. */
export function runSucceeded({ lines = [line()], children = 0 }: End): NewEvent {
  const own = lines.reduce((sum, one) => sum + one.input + one.output, 0);
  return { type: 'RunSucceeded', data: { output: { text: 'done' }, spend: { lines, own, children } } };
}
