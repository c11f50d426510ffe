import type { CallDecision, RunEvent, StoredText } from '@runyard/contracts';
import { bytesOfText, digestOfText, shown } from './run-image';
import type { OpenCall, Outcome, RunImage } from './run-image';
import { addEntry, entryText, nextPlace } from './trajectory';

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

/** Events of a call that carry a decision on a question about it. */
type Deciding = EventOf<
  'CallApproved' | 'ToolCallDenied' | 'ToolCallSucceeded' | 'ToolCallFailed' | 'ToolCallCancelled'
>;

interface Decided {
  approvalId: string;
  outcome: Outcome;
  decision: CallDecision;
  /** A reviewer's arguments; null: as asked. */
  arguments: StoredText | null;
  content: StoredText;
}

const APPROVED: StoredText = { text: 'Approved.' };
const APPROVED_EDITED: StoredText = { text: 'Approved with other arguments.' };
const REPEATED: StoredText = { text: 'To be repeated.' };
/** As the domain names who decides where nobody did in time. */
export const EXPIRY = 'system:expiry';

/** A question about a call: its decision is dated from here. */
export function askedAbout(call: OpenCall, event: EventOf<'ApprovalRequested'>): void {
  call.asked_at = event.time;
  call.asked = event.data.kind;
}

/** A decision on a parked call leaves a row and an entry of its own; what a rule or the mode decided stands on the call's. */
export function decisionOn(image: RunImage, call: OpenCall, event: Deciding, position: string): void {
  const decided = decidedBy(event);
  if (!decided) return;
  const { decision, outcome, content } = decided;
  const common = { step: event.data.step, call_id: call.call_id, tool: call.tool };
  const by = { decided_by: decision.decidedBy, rule_id: decision.ruleId, group_key: decision.groupKey };
  image.steps.push({
    run_id: image.run_id,
    org_id: image.org_id,
    seq: image.progress.next_seq++,
    kind: 'approval',
    ...common,
    arguments: shown(decided.arguments ?? call.arguments),
    arguments_digest: digestOfText(decided.arguments ?? call.arguments),
    content: shown(content),
    content_digest: digestOfText(content),
    content_bytes: bytesOfText(content),
    outcome,
    attempts: 0,
    started_at: Math.min(call.asked_at ?? event.time, event.time),
    ended_at: event.time,
    ...by,
    position,
  });
  addEntry(image, nextPlace(image), {
    kind: 'approval',
    ...common,
    approval_id: decided.approvalId,
    asked: call.asked ?? 'call',
    outcome,
    ...by,
    ...(decided.arguments === null ? {} : { arguments: entryText(image, decided.arguments) }),
    content: entryText(image, content),
  });
}

/** Who settled a call that was not sent: a rule, the mode, a person, or a fork that takes its source's result over. */
export function decisionIn(event: Deciding): CallDecision | null {
  switch (event.type) {
    case 'ToolCallDenied':
      return event.data.decision;
    case 'ToolCallSucceeded':
      return event.data.resolution?.decision ?? event.data.reusedFrom?.decision ?? null;
    case 'ToolCallFailed':
      return event.data.resolution?.decision ?? null;
    default:
      return null;
  }
}

function decidedBy(event: Deciding): Decided | null {
  if (event.type === 'CallApproved') {
    const { approvalId, decision, kind, arguments: edited } = event.data;
    const content = kind === 'ambiguous' ? REPEATED : edited === null ? APPROVED : APPROVED_EDITED;
    return { approvalId, outcome: 'succeeded', decision, arguments: edited, content };
  }
  if (event.type === 'ToolCallDenied') {
    const { approvalId, decision, observation } = event.data;
    if (approvalId === undefined) return null;
    const outcome = decision.decidedBy === EXPIRY ? 'cancelled' : 'denied';
    return { approvalId, outcome, decision, arguments: null, content: observation };
  }
  if (event.type === 'ToolCallCancelled') return null;
  const { resolution, observation } = event.data;
  if (!resolution) return null;
  const expired = resolution.decision.decidedBy === EXPIRY;
  const outcome = expired ? 'cancelled' : event.type === 'ToolCallSucceeded' ? 'succeeded' : 'failed';
  return { ...resolution, outcome, arguments: null, content: observation };
}

/** What a person allowed for the whole run. */
export function groupApproved(image: RunImage, { data }: EventOf<'GroupApproved'>): void {
  addEntry(image, nextPlace(image), {
    kind: 'group_approval',
    approval_id: data.approvalId,
    group_key: data.groupKey,
    decided_by: data.decision.decidedBy,
    rule_id: data.decision.ruleId,
  });
}
