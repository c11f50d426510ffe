import type { Bounds, ErrorInfo, Mode, RunState, StoredText, Termination } from '@runyard/contracts';

/** What every record of a run begins with. */
export interface OfRun {
  run_id: string;
  org_id: string;
}

/** Columns that a run is born with and keeps. */
export interface BirthColumns {
  parent_run_id: string | null;
  root_run_id: string;
  depth: number;
  user_id: string | null;
  owner_id: string;
  requested_by: string;
  agent_id: string;
  agent_version: number;
  definition: string | null;
  trigger: string;
  conversation_id: string | null;
  previous_run_id: string | null;
  slot_key: string | null;
  /** The run that it begins with, how, and how many of its steps it took over. */
  source_run_id: string | null;
  source_kind: string | null;
  source_step: number | null;
  input: string | null;
  input_digest: string | null;
  approval_policy: string | null;
  tier: string;
  created_at: number;
}

/** Columns that move with the run. Times are epoch milliseconds. */
export interface MovingColumns extends OfRun {
  mode: Mode | null;
  bounds: Bounds | null;
  grant_tokens: number;
  state: RunState;
  termination: Termination | null;
  reason: string | null;
  model: string;
  started_at: number | null;
  ended_at: number | null;
  heartbeat_at: number | null;
  output: string | null;
  /** Blob that holds the whole output; the row takes it from there. */
  output_digest: string | null;
  error: ErrorInfo | null;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  model_calls: number;
  tool_calls: number;
  steps: number;
  cancel_requested: string | null;
  cancel_requested_at: number | null;
  pause_requested: boolean;
  pause_expires_at: number | null;
  sequence: number;
  position: string;
}

/** A call of the open turn, remembered until its result is recorded. */
export interface OpenCall {
  call_id: string;
  tool: string;
  arguments: StoredText | null;
  status: 'undecided' | 'asked' | 'started' | 'ambiguous' | 'settled';
  attempts: number;
  started_at: number | null;
  effect: 'read' | 'write' | null;
  arguments_digest: string | null;
  decided_by: string | null;
  rule_id: string | null;
  group_key: string | null;
  /** The run that the call is, and whether it is still open. */
  child?: { run_id: string; open: boolean };
  /** What is known of an ambiguous call. */
  note: string | null;
  /** When a person was asked about it, epoch ms, and what; absent: nobody was. */
  asked_at?: number;
  asked?: 'call' | 'ambiguous';
}

/** The calls of the last model turn; null once all of them are settled. */
export interface OpenTurn {
  step: number;
  /** `seq` of the first call; the others follow in call order. */
  first_seq: number;
  /** Places in the trajectory that the calls and their results take, reserved when the first of each appears. */
  calls_place: number | null;
  results_place: number | null;
  calls: OpenCall[];
}

/** What must be remembered between batches while a run is unfinished. */
export interface Progress {
  next_seq: number;
  next_place: number;
  entry_bytes: number;
  turn: OpenTurn | null;
}

/** A step; columns that do not apply to its kind are left out and become NULL. */
export interface StepRow extends OfRun {
  seq: number;
  step: number;
  kind: 'model_turn' | 'tool_call' | 'approval';
  call_id?: string;
  model?: string;
  tool?: string;
  arguments?: string | null;
  arguments_digest?: string | null;
  content: string | null;
  content_digest?: string | null;
  content_bytes?: number | null;
  reasoning?: string | null;
  outcome: Outcome;
  error_code?: string | null;
  attempts: number;
  started_at: number;
  ended_at: number;
  effect?: string | null;
  rule_id?: string | null;
  group_key?: string | null;
  decided_by?: string | null;
  child_run_id?: string | null;
  finish?: string;
  input_tokens?: number;
  output_tokens?: number;
  cached_tokens?: number;
  estimated?: boolean;
  position: string;
}

export type Outcome = 'succeeded' | 'failed' | 'denied' | 'cancelled';

/** An element of the trajectory and its place in it. */
export interface PlacedEntry {
  place: number;
  entry: Record<string, unknown>;
}

/** The driver named in the last claim; null while nobody drives the run. */
export interface Driver {
  epoch: number;
  instance: string;
  at: number;
}

/** A run as a batch works on it: its row, and what the batch adds. */
export interface RunImage extends OfRun {
  /** Present exactly where this batch holds the run's birth. */
  birth: BirthColumns | null;
  /** The parent was born in this batch too, before this run. */
  parent_is_new: boolean;
  /** From the birth or the row: deleting a conversation needs it. */
  conversation_id: string | null;
  agent_id: string;
  request_digest: string | null;
  row: MovingColumns;
  progress: Progress;
  steps: StepRow[];
  entries: PlacedEntry[];
  /** Undefined: this batch says nothing of the driver. */
  driver: Driver | null | undefined;
  touched: boolean;
}

export const TERMINAL: ReadonlySet<RunState> = new Set(['succeeded', 'failed', 'cancelled', 'skipped']);
export const isEnded = (image: RunImage): boolean => TERMINAL.has(image.row.state);

export const FRESH_PROGRESS: Progress = { next_seq: 1, next_place: 0, entry_bytes: 0, turn: null };

/** A text as a column shows it: itself, or the beginning of what its digest names. */
export const shown = (stored: StoredText | null): string | null =>
  stored === null ? null : 'text' in stored ? stored.text : stored.preview;
export const digestOfText = (stored: StoredText | null): string | null =>
  stored !== null && 'digest' in stored ? stored.digest : null;
export const bytesOfText = (stored: StoredText | null): number | null =>
  stored !== null && 'digest' in stored ? stored.bytes : null;

/** Sums of counts stay exact: a row whose total is not could be written and never be read again. */
const LARGEST_COUNT = 1e12;

/** A count that a provider reported: never negative, never a fraction, so that no provider can stop the projection. */
export const count = (reported: number): number =>
  Number.isFinite(reported) ? Math.min(Math.max(0, Math.trunc(reported)), LARGEST_COUNT) : 0;
