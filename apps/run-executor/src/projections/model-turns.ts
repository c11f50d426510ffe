import type { BudgetSnapshotTaken, ModelTurnCompleted, TokenUsage } from '@runyard/contracts';
import { bytesOfText, count, digestOfText, shown } from './run-image';
import type { OpenCall, RunImage, StepRow } from './run-image';
import { addEntry, entryText, nextPlace } from './trajectory';

type Turn = ModelTurnCompleted['data'];

/** Tokens of one attempt, answered or failed, estimated or reported: all of them were bought. */
export function addUsage(image: RunImage, usage: TokenUsage): void {
  const { row } = image;
  row.input_tokens += count(usage.input);
  row.output_tokens += count(usage.output);
  row.cached_tokens += count(usage.cached);
  row.model_calls += 1;
}

/** A completed turn: its step, its message, and places for the calls that it asks for. */
export function turnCompleted(image: RunImage, turn: Turn, time: number, position: string): void {
  const { row, progress } = image;
  addUsage(image, turn.usage);
  row.model = turn.model;
  row.steps += 1;
  const seq = progress.next_seq;
  progress.next_seq += 1 + turn.toolCalls.length;
  image.steps.push(turnStep(image, turn, seq, time, position));
  addEntry(image, nextPlace(image), message(image, turn));
  progress.turn =
    turn.toolCalls.length === 0
      ? null
      : {
          step: turn.step,
          first_seq: seq + 1,
          calls_place: null,
          results_place: null,
          calls: turn.toolCalls.map(openCall),
        };
}

/** A call that was asked for and about which nothing is recorded yet. */
export const openCall = (call: Turn['toolCalls'][number]): OpenCall => ({
  call_id: call.callId,
  tool: call.tool,
  arguments: call.arguments,
  status: 'undecided',
  attempts: 0,
  started_at: null,
  effect: null,
  arguments_digest: null,
  decided_by: null,
  rule_id: null,
  group_key: null,
  note: null,
});

function turnStep(image: RunImage, turn: Turn, seq: number, time: number, position: string): StepRow {
  return {
    run_id: image.run_id,
    org_id: image.org_id,
    seq,
    step: turn.step,
    kind: 'model_turn',
    model: turn.model,
    content: shown(turn.text),
    content_digest: digestOfText(turn.text),
    content_bytes: bytesOfText(turn.text),
    reasoning: shown(turn.reasoning),
    outcome: 'succeeded',
    attempts: turn.attempt,
    started_at: Math.min(turn.startedAt, time),
    ended_at: time,
    finish: turn.finish,
    input_tokens: count(turn.usage.input),
    output_tokens: count(turn.usage.output),
    cached_tokens: count(turn.usage.cached),
    estimated: turn.usage.estimated,
    position,
  };
}

function message(image: RunImage, turn: Turn): Record<string, unknown> {
  const { usage } = turn;
  return {
    kind: 'message',
    role: 'assistant',
    step: turn.step,
    model: turn.model,
    content: turn.text === null ? null : entryText(image, turn.text),
    ...(turn.reasoning === null ? {} : { reasoning: entryText(image, turn.reasoning) }),
    ...(turn.toolCalls.length === 0
      ? {}
      : { tool_calls: turn.toolCalls.map((call) => requested(image, call)) }),
    finish: turn.finish,
    provider_reason: turn.providerReason,
    usage: {
      input: count(usage.input),
      output: count(usage.output),
      cached: count(usage.cached),
      estimated: usage.estimated,
    },
  };
}

const requested = (image: RunImage, call: Turn['toolCalls'][number]): Record<string, unknown> => ({
  call_id: call.callId,
  provider_call_id: call.providerCallId,
  tool: call.tool,
  arguments: entryText(image, call.arguments),
});

export function snapshotTaken(image: RunImage, data: BudgetSnapshotTaken['data']): void {
  addEntry(image, nextPlace(image), {
    kind: 'snapshot',
    steps: data.steps,
    tool_calls: data.toolCalls,
    tokens: data.tokens,
    milliseconds: data.milliseconds,
    weekly_tokens: data.weeklyTokens,
  });
}
