import type { Bounds, RunEvent, RunExtended } from '@runyard/contracts';
import { EXPIRY } from './decisions';
import type { MovingColumns, RunImage } from './run-image';
import type { CallEvent } from './tool-calls';

export type Control = Extract<
  RunEvent,
  {
    type:
      | 'RunStarted'
      | 'RunRecovered'
      | 'RunCancelRequested'
      | 'RunPauseRequested'
      | 'RunPaused'
      | 'RunResumed'
      | 'RunExtended'
      | 'RunModeSet'
      | 'RunAwaitingApproval';
  }
>;

/** Applies a claim or a control. */
export function control(image: RunImage, event: Control): void {
  const { row } = image;
  switch (event.type) {
    case 'RunStarted':
    case 'RunRecovered':
      row.state = 'running';
      row.started_at ??= event.time;
      row.pause_expires_at = null;
      image.driver = { epoch: event.data.epoch, instance: event.data.instance, at: event.time };
      return;
    case 'RunCancelRequested':
      row.cancel_requested ??= event.data.reason;
      row.cancel_requested_at ??= event.time;
      return;
    case 'RunPauseRequested':
      row.pause_requested = true;
      return;
    case 'RunPaused':
      row.state = 'paused';
      row.pause_requested = false;
      row.pause_expires_at = event.data.expiresAt;
      image.driver = null;
      return;
    case 'RunResumed':
      return resumed(image, event.time);
    case 'RunExtended':
      return extended(row, event.data);
    case 'RunModeSet':
      row.mode = event.data.mode;
      return awaken(image);
    case 'RunAwaitingApproval':
      row.state = 'awaiting_approval';
      image.driver = null;
      return;
    default:
      return event satisfies never;
  }
}

/** What was parked for decisions and has one is runnable, although nobody drives it until the next claim. */
export function awaken({ row }: RunImage, event?: CallEvent): void {
  const wakes = row.state === 'awaiting_approval' || (row.state === 'waiting' && event && cutsWaiting(event));
  if (wakes) row.state = 'running';
}

/** A run that waits for children goes on with a call that was allowed meanwhile, and ends where a question has expired. */
function cutsWaiting(event: CallEvent): boolean {
  if (event.type === 'CallApproved') return true;
  const resolution = 'resolution' in event.data ? event.data.resolution?.decision : undefined;
  const decision = event.type === 'ToolCallDenied' ? event.data.decision : resolution;
  return decision?.decidedBy === EXPIRY;
}

/** Resumed counts as running although nobody drives it until the next claim. */
function resumed({ row }: RunImage, time: number): void {
  row.pause_requested = false;
  if (row.state !== 'paused') return;
  row.state = 'running';
  row.started_at ??= time;
  row.pause_expires_at = null;
}

function extended(row: MovingColumns, by: RunExtended['data']): void {
  row.grant_tokens += by.tokens;
  if (row.bounds) row.bounds = raised(row.bounds, by);
}

const raised = (bounds: Bounds, by: RunExtended['data']): Bounds => ({
  ...bounds,
  maxSteps: bounds.maxSteps + by.steps,
  maxToolCalls: bounds.maxToolCalls + by.toolCalls,
  tokenBudget: bounds.tokenBudget + by.tokens,
  deadlineSeconds: bounds.deadlineSeconds + by.seconds,
});
