import type {
  OpenCall as OpenCallOfSource,
  RunEvent,
  RunIdentity,
  RunQueued,
  RunSkipped,
} from '@runyard/contracts';
import { isUuid } from './commits';
import { digestOfText, FRESH_PROGRESS, shown } from './run-image';
import type { BirthColumns, MovingColumns, RunImage } from './run-image';
import { openCall } from './model-turns';
import { addEntry, entryText, nextPlace } from './trajectory';

type Birth = RunQueued | RunSkipped;

/** Whether a run's row begins with this event. A failure at birth fences a key (P2.6) and leaves no row. */
export const isBirth = (event: RunEvent): event is Birth =>
  event.type === 'RunQueued' || event.type === 'RunSkipped';

/** The image of a run that this event gives birth to. */
export function born(org: string, runId: string, event: Birth, position: string): RunImage {
  const image: RunImage = {
    run_id: runId,
    org_id: org,
    birth: event.type === 'RunQueued' ? queuedColumns(event) : identityColumns(event.data, event.time),
    parent_is_new: false,
    conversation_id: event.data.conversationId,
    agent_id: event.data.agentId,
    request_digest: event.data.requestDigest,
    row: movingColumns(org, runId, event, position),
    progress: { ...FRESH_PROGRESS },
    steps: [],
    entries: [],
    driver: undefined,
    touched: true,
  };
  if (event.type === 'RunQueued') openTrajectory(image, event);
  return image;
}

function openTrajectory(image: RunImage, { data }: RunQueued): void {
  addEntry(image, nextPlace(image), {
    kind: 'definition',
    digest: data.definition,
    agent_version: data.agentVersion,
  });
  const { takenOver: taken, origin } = data;
  if (taken && origin)
    addEntry(image, nextPlace(image), {
      kind: 'taken_over',
      run_id: origin.runId,
      origin: origin.kind,
      step: origin.step,
      dialog: entryText(image, taken.dialog),
    });
  if (!taken?.saidBefore)
    addEntry(image, nextPlace(image), {
      kind: 'message',
      role: 'user',
      content: entryText(image, data.input),
    });
  if (taken && taken.open.length > 0) openTurn(image, taken.open);
}

/** Calls that the source had left open lie ahead of the run's own turns. */
function openTurn(image: RunImage, open: readonly OpenCallOfSource[]): void {
  image.progress.turn = {
    step: 0,
    first_seq: image.progress.next_seq,
    calls_place: null,
    results_place: null,
    calls: open.map((call) => ({
      ...openCall({ ...call, providerCallId: '' }),
      status: call.outcome === null ? 'undecided' : 'settled',
    })),
  };
  image.progress.next_seq += open.length;
}

function identityColumns(identity: RunIdentity, time: number): BirthColumns {
  return {
    parent_run_id: identity.parentRunId,
    root_run_id: identity.rootRunId,
    depth: identity.depth,
    user_id: isUuid(identity.userId) ? identity.userId : null,
    owner_id: identity.ownerId,
    requested_by: identity.requestedBy,
    agent_id: identity.agentId,
    agent_version: identity.agentVersion,
    definition: null,
    trigger: identity.trigger,
    conversation_id: identity.conversationId,
    previous_run_id: null,
    slot_key: null,
    source_run_id: null,
    source_kind: null,
    source_step: null,
    input: null,
    input_digest: null,
    approval_policy: null,
    tier: identity.tier,
    created_at: time,
  };
}

const queuedColumns = ({ data, time }: RunQueued): BirthColumns => ({
  ...identityColumns(data, time),
  definition: data.definition,
  previous_run_id: data.previousRunId,
  slot_key: data.slot,
  source_run_id: data.origin?.runId ?? null,
  source_kind: data.origin?.kind ?? null,
  source_step: data.origin?.step ?? null,
  input: shown(data.input),
  input_digest: digestOfText(data.input),
  approval_policy: data.settings.approvalPolicy,
});

function movingColumns(org: string, runId: string, event: Birth, position: string): MovingColumns {
  const skipped = event.type === 'RunSkipped';
  return {
    run_id: runId,
    org_id: org,
    mode: skipped ? null : event.data.settings.mode,
    bounds: skipped ? null : { ...event.data.settings.bounds },
    grant_tokens: skipped ? 0 : event.data.grantTokens,
    state: skipped ? 'skipped' : 'queued',
    termination: null,
    reason: skipped ? event.data.reason : null,
    model: '',
    started_at: null,
    ended_at: skipped ? event.time : null,
    heartbeat_at: null,
    output: null,
    output_digest: null,
    error: null,
    input_tokens: 0,
    output_tokens: 0,
    cached_tokens: 0,
    model_calls: 0,
    tool_calls: 0,
    steps: 0,
    cancel_requested: null,
    cancel_requested_at: null,
    pause_requested: false,
    pause_expires_at: null,
    sequence: 0,
    position,
  };
}
