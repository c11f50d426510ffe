import { DEFAULT_BOUNDS, isChildEvent } from '@runyard/contracts';
import type { RunEvent, RunQueued, RunStarted, WakingBudget } from '@runyard/contracts';
import { closeTurn, interruptTurn, isCallEvent, updateCall, NOTHING_REPEATED } from './calls';
import { childStep } from './children';
import type { Material } from './material';
import { answered, asked } from './approval-steps';
import { controlled } from './control-steps';
import { modelStep } from './model-steps';
import { NO_RUN, usedMilliseconds } from './run';
import type { EndedRun, LiveRun, Run } from './run';
import { firstDialog, firstPhase, recordedWrites } from './taken-over';
import { EMPTY_TRANSCRIPT } from './transcript';

/** Folds one event. Pure and total: an event that makes no sense in a state leaves it as it is. */
export function evolve(run: Run, event: RunEvent, material: Material): Run {
  if (run.situation === 'none') return born(event, material);
  if (run.situation === 'ended') return event.type === 'RunDeleted' ? { ...run, deleted: true } : run;
  const after = step(run, event, material);
  if (after === run) return { ...run, lastEventAt: event.time };
  // A state that this step has just made is nobody else's yet; copying its fields once more would cost as much as the step.
  return Object.assign(after, { lastEventAt: event.time });
}

function born(event: RunEvent, material: Material): Run {
  if (event.type === 'RunQueued') return queued(event, material);
  if (event.type === 'RunSkipped')
    return { ...ended('skipped', event.data.reason, event.time), identity: event.data };
  // The fence of a request that never became a run (P2.6): nobody may use this id any more.
  if (event.type === 'RunFailed') return ended('failed', event.data.reason, event.time);
  // Likewise of a child whose parent was cancelled before it came to life.
  if (event.type === 'RunCancelled') return ended('cancelled', event.data.reason, event.time);
  return NO_RUN;
}

function ended(state: EndedRun['state'], reason: string | null, time: number): EndedRun {
  return {
    situation: 'ended',
    identity: null,
    state,
    reason,
    slot: null,
    previousRunId: null,
    definition: null,
    transcript: EMPTY_TRANSCRIPT,
    deleted: false,
    lastEventAt: time,
  };
}

/** Where a run stands before anything has happened to it. */
const AT_BIRTH = {
  situation: 'queued',
  epoch: 0,
  instance: null,
  woken: false,
  cancelRequested: null,
  pauseRequested: false,
  pauseExpiresAt: null,
  groups: [],
  expiredQuestion: null,
  extensions: [],
  steps: 0,
  toolCalls: 0,
  usedTokens: 0,
  spendLines: [],
  childTokens: 0,
  parkedForPeople: false,
  starved: false,
  usedMilliseconds: 0,
  runningSince: null,
  repeated: NOTHING_REPEATED,
  exhaustedTool: null,
} as const satisfies Partial<LiveRun>;

function queued({ data, time }: RunQueued, material: Material): LiveRun {
  const { definition, settings, grantTokens, previousRunId, slot, weeklyCapped, weeklyTokens, ...rest } =
    data;
  const { input: _input, origin, takenOver, ...identity } = rest;
  return {
    ...AT_BIRTH,
    identity,
    definition,
    bounds: { ...DEFAULT_BOUNDS, ...settings.bounds },
    mode: settings.mode,
    approvalPolicy: settings.approvalPolicy,
    grantTokens,
    weeklyCapped: weeklyCapped === true,
    weeklyTokens: weeklyTokens ?? null,
    previousRunId,
    slot,
    originRunId: origin?.runId ?? null,
    recordedWrites: recordedWrites(takenOver, material),
    phase: firstPhase(takenOver, material),
    transcript: firstDialog(data, material),
    lastEventAt: time,
  };
}

function step(run: LiveRun, event: RunEvent, material: Material): Run {
  if (isCallEvent(event))
    return closeTurn(updateCall(answered(run, event), event, material), material.callPrefix);
  if (isChildEvent(event)) return childStep(run, event);
  switch (event.type) {
    case 'RunStarted':
    case 'RunRecovered':
      return claimed(run, event.data, event.time);
    case 'ModelCallStarted':
    case 'ModelCallFailed':
    case 'ModelTurnCompleted':
      return modelStep(run, event, material);
    case 'RunAwaitingApproval':
    case 'GroupApproved':
      return asked(run, event);
    case 'RunCancelRequested':
    case 'RunPauseRequested':
    case 'RunPaused':
    case 'RunResumed':
    case 'RunExtended':
    case 'RunModeSet':
      return controlled(run, event);
    case 'RunSucceeded':
      return finish(run, 'succeeded', null, event.time, material);
    case 'RunFailed':
      return finish(run, 'failed', event.data.reason, event.time, material);
    case 'RunCancelled':
      return finish(run, 'cancelled', event.data.reason, event.time, material);
    case 'BudgetSnapshotTaken':
    case 'RunQueued':
    case 'RunSkipped':
    case 'RunDeleted':
      return run;
    default:
      return event satisfies never;
  }
}

/** A new driver: time between the last event of the old one and this claim does not count (P5.7). */
function claimed(run: LiveRun, { epoch, instance, budget }: RunStarted['data'], time: number): LiveRun {
  const used = usedMilliseconds(run, run.lastEventAt);
  return {
    ...run,
    ...(budget ? granted(run, budget) : {}),
    parkedForPeople: false,
    situation: 'running',
    epoch,
    instance,
    woken: false,
    usedMilliseconds: used,
    runningSince: time,
  };
}

function granted(run: LiveRun, { grantTokens, weeklyTokens }: WakingBudget): Partial<LiveRun> {
  const weeklyCapped = run.weeklyCapped || grantTokens < run.grantTokens;
  const starved = grantTokens < run.grantTokens && grantTokens <= run.usedTokens + run.childTokens;
  return { grantTokens, weeklyTokens, weeklyCapped, starved };
}

function finish(
  run: LiveRun,
  state: EndedRun['state'],
  reason: string | null,
  time: number,
  { callPrefix }: Material,
): EndedRun {
  const { identity, slot, previousRunId, definition } = run;
  const { transcript } = interruptTurn(run, callPrefix);
  return { ...ended(state, reason, time), identity, slot, previousRunId, definition, transcript };
}

/** Folds a list of events. */
export const fold = (run: Run, events: readonly RunEvent[], material: Material): Run =>
  events.reduce((state, event) => evolve(state, event, material), run);
