import type { ChildEvent } from '@runyard/contracts';
import type { OpenCall, RunImage } from './run-image';

/** Applies an event of delegation: which run a call is, and whether the run waits for nothing else. */
export function childEvent(image: RunImage, event: ChildEvent, time: number): void {
  const { row } = image;
  switch (event.type) {
    case 'ChildGranted':
      change(image, event.data.callId, (call) => {
        call.child = { run_id: event.data.childRunId, open: true };
      });
      return;
    case 'ChildRequested':
      return;
    case 'RunAwaitingChildren':
      row.state = 'waiting';
      row.heartbeat_at = time;
      image.driver = null;
      return;
    case 'ChildSettled':
      change(image, event.data.callId, (call) => {
        if (call.child) call.child.open = false;
      });
      // As after a resume: it counts as running although nobody drives it until the next claim.
      if (row.state === 'waiting' && !image.progress.turn?.calls.some(({ child }) => child?.open))
        row.state = 'running';
      return;
    default:
      return event satisfies never;
  }
}

function change(image: RunImage, callId: string, apply: (call: OpenCall) => void): void {
  const call = image.progress.turn?.calls.find(({ call_id }) => call_id === callId);
  if (call) apply(call);
}
