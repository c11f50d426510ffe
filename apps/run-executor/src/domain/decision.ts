import type { ApprovalKind, Json, ModelRoute, RunEvent, ToolDefinition } from '@runyard/contracts';
import type { Ruling } from './rulings';
import type { CallState, LiveRun } from './run';

type Undated<E> = E extends { type: infer T; data: infer D } ? { type: T; data: D } : never;
/** An event before it has a time and an actor. */
export type NewRunEvent = Undated<RunEvent>;

/** A call's arguments as parsed and validated, before anything is decided about the call. */
export type Judgement =
  | { ok: true; digest: string; value?: Json }
  | { ok: false; code: string; text: string };

/** How people take part in decisions about calls. */
export interface Approvals {
  /** Version of the org's rules that `rule` goes by. */
  policyVersion: number;
  /** What the org's rules and the run's mode say of a call now. */
  rule(run: LiveRun, tool: ToolDefinition, args: Json | undefined, now: number): Ruling;
  /** The id of a question: the same one for ever, from whoever asks. */
  idOf(callId: string, kind: ApprovalKind, round: number): string;
  /** How long a question stays open, and a grant holds. */
  ttlMs: number;
}

/** What decisions need beside the state. All of it derives from recorded facts, but for `now`. */
export interface Circumstances {
  now: number;
  runId: string;
  models: readonly ModelRoute[];
  tools: ReadonlyMap<string, ToolDefinition>;
  /** Bytes of system prompt and tool definitions: they are sent with every request. */
  overheadBytes: number;
  judge(call: CallState, cutOff: boolean): Judgement;
  /** Id of the run that a call of an agent tool is; derived, never drawn. */
  childRunId(callId: string, attempt: number): string;
  /** Most children of a run at a time. */
  parallelChildren: number;
  /** How long a pause may last. */
  pauseTtlMs: number;
  /** Undefined: nobody can be asked, and the mode alone decides; what would need a person ends the run. */
  approvals?: Approvals;
}
