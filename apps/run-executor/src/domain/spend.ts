import type { ModelCallFailed, ModelTurnCompleted, RunSpend, SpendLine } from '@runyard/contracts';
import type { NewRunEvent } from './decision';
import type { LiveRun } from './run';

type CallResult = Pick<ModelTurnCompleted, 'type' | 'data'> | Pick<ModelCallFailed, 'type' | 'data'>;

/** The run's lines with one more model call: each attempt is booked once, whatever became of it. */
export function withCall(run: LiveRun, { type, data }: CallResult): SpendLine[] {
  const { input, output, cached, estimated } = data.usage;
  const named = type === 'ModelTurnCompleted' ? data : calledIn(run, data.modelId);
  const { modelId } = data;
  const { provider, model } = named;
  const same = (line: SpendLine) =>
    line.modelId === modelId && line.provider === provider && line.model === model;
  const none = { modelId, model, provider, tier: run.identity.tier, calls: 0 };
  const line = run.spendLines.find(same) ?? { ...none, input: 0, output: 0, cached: 0, estimated: 0 };
  const after = {
    ...line,
    calls: line.calls + 1,
    input: line.input + input,
    output: line.output + output,
    cached: line.cached + cached,
    estimated: line.estimated + (estimated ? input + output : 0),
  };
  const known = run.spendLines.includes(line);
  return known ? run.spendLines.map((other) => (other === line ? after : other)) : [...run.spendLines, after];
}

/** A call that failed says whom it asked only in the event that announced it. */
function calledIn({ phase }: LiveRun, modelId: string): { provider: string; model: string } {
  if (phase.name === 'calling_model' && phase.modelId === modelId) return phase;
  return { provider: '', model: '' };
}

export type TerminalEvent = Extract<NewRunEvent, { type: 'RunSucceeded' | 'RunFailed' | 'RunCancelled' }>;

/** A terminal event with who waits for it and what the run has spent, `lost` calls included, which are recorded in the same commit. */
export function spentBy(run: LiveRun, terminal: TerminalEvent, lost: readonly NewRunEvent[]): NewRunEvent {
  const { parentRunId } = run.identity;
  const said = { spend: spendOf(run, lost), ...(parentRunId === null ? {} : { parentRunId }) };
  switch (terminal.type) {
    case 'RunSucceeded':
      return { type: 'RunSucceeded', data: { ...terminal.data, ...said } };
    case 'RunFailed':
      return { type: 'RunFailed', data: { ...terminal.data, ...said } };
    case 'RunCancelled':
      return { type: 'RunCancelled', data: { ...terminal.data, ...said } };
    default:
      return terminal satisfies never;
  }
}

/** What the run has spent once `events` are folded in; they are decided together with its end. */
function spendOf(run: LiveRun, events: readonly NewRunEvent[]): RunSpend {
  let after = run;
  for (const event of events)
    if (event.type === 'ModelCallFailed') after = { ...after, spendLines: withCall(after, event) };
  const lines = [...after.spendLines];
  const own = lines.reduce((sum, { input, output }) => sum + input + output, 0);
  return { lines, own, children: run.childTokens };
}
