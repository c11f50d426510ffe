import { isChildEvent } from '@runyard/contracts';
import type { RunEvent } from '@runyard/contracts';
import { childEvent } from './children';
import { addUsage, snapshotTaken, turnCompleted } from './model-turns';
import { groupApproved } from './decisions';
import { awaken, control } from './run-controls';
import { digestOfText, isEnded, shown } from './run-image';
import type { RunImage } from './run-image';
import { callEvent, closeOpenCalls, isCallEvent } from './tool-calls';

/**
 * Applies one event to a run that exists. Total: an event that makes no sense where the run stands changes nothing, as in
 * the decider's own fold; terminal is final.
 */
export function fold(image: RunImage, event: RunEvent, position: string): void {
  if (isEnded(image)) return;
  const { row } = image;
  const wasRunning = row.state === 'running';
  change(image, event, position);
  row.position = position;
  if (wasRunning || row.state === 'running') row.heartbeat_at = event.time;
}

function change(image: RunImage, event: RunEvent, position: string): void {
  if (isCallEvent(event)) {
    awaken(image, event);
    return callEvent(image, event, position);
  }
  if (isChildEvent(event)) return childEvent(image, event, event.time);
  switch (event.type) {
    case 'BudgetSnapshotTaken':
      return snapshotTaken(image, event.data);
    case 'ModelCallFailed':
      return addUsage(image, event.data.usage);
    case 'ModelTurnCompleted':
      return turnCompleted(image, event.data, event.time, position);
    case 'RunStarted':
    case 'RunRecovered':
    case 'RunCancelRequested':
    case 'RunPauseRequested':
    case 'RunPaused':
    case 'RunResumed':
    case 'RunExtended':
    case 'RunModeSet':
    case 'RunAwaitingApproval':
      return control(image, event);
    case 'GroupApproved':
      return groupApproved(image, event);
    case 'RunSucceeded':
    case 'RunFailed':
    case 'RunCancelled':
      return end(image, event, position);
    case 'ModelCallStarted':
    case 'RunQueued':
    case 'RunSkipped':
    case 'RunDeleted':
      return;
    default:
      return event satisfies never;
  }
}

type End = Extract<RunEvent, { type: 'RunSucceeded' | 'RunFailed' | 'RunCancelled' }>;

function end(image: RunImage, event: End, position: string): void {
  closeOpenCalls(image, event.time, position);
  const { row } = image;
  row.ended_at = event.time;
  row.pause_requested = false;
  row.pause_expires_at = null;
  image.driver = null;
  switch (event.type) {
    case 'RunSucceeded':
      row.state = 'succeeded';
      row.termination = 'Completed';
      row.output = shown(event.data.output);
      row.output_digest = digestOfText(event.data.output);
      return;
    case 'RunFailed':
      row.state = 'failed';
      row.termination = event.data.termination;
      row.reason = event.data.reason;
      row.error = { code: event.data.error.code, text: event.data.error.text };
      return;
    case 'RunCancelled':
      row.state = 'cancelled';
      row.termination = 'Cancelled';
      row.reason = event.data.reason;
      return;
    default:
      return event satisfies never;
  }
}
