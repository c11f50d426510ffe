import type { ModelRoute, RunEvent, ToolDefinition } from '@runyard/contracts';
import type { CallState } from './run';

type Undated<E> = E extends { type: infer T; data: infer D } ? { type: T; data: D } : never;
/** An event before it has a time and an actor. */
export type NewRunEvent = Undated<RunEvent>;

/** A call's arguments as parsed and validated, before anything is decided about the call. */
export type Judgement = { ok: true; digest: string } | { ok: false; code: string; text: string };

/** What decisions need beside the state. All of it derives from recorded facts, but for `now`. */
export interface Circumstances {
  now: number;
  runId: string;
  models: readonly ModelRoute[];
  tools: ReadonlyMap<string, ToolDefinition>;
  /** Bytes of system prompt and tool definitions: they are sent with every request. */
  overheadBytes: number;
  judge(call: CallState, cutOff: boolean): Judgement;
  /** How long a pause may last. */
  pauseTtlMs: number;
}
