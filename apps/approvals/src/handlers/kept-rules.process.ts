import { APPROVAL_EVENTS, parseSubject } from '@runyard/contracts';
import type { ApprovalEvent } from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import type { Reaction } from '@runyard/service';
import { SOURCE } from './approval-log.adapter';
import type { ApprovalLog } from './approval-log.adapter';

/**
 * A decision that makes a rule adds it to the org's rules: `ApprovalDecided` with a rule → `RuleAdded`, in the name of whoever
 * decided. The command does the same at once; this one is for the crash in between. A rule is added once by its id, which
 * follows from the approval, and one that was removed meanwhile stays removed.
 */
export function keptRulesReaction(approvals: ApprovalLog): Reaction {
  return {
    name: 'approvals-rules-reaction',
    version: 1,
    stream: 'APPROVALS',
    async react(commit) {
      const place = parseSubject(commit.subject);
      if (place?.context !== 'approvals') return;
      const events = decodeEvents(commit, APPROVAL_EVENTS).events as ApprovalEvent[];
      for (const [index, event] of events.entries()) {
        if (event.type !== 'ApprovalDecided' || !event.data.rule) continue;
        const meta = { actor: event.actor, source: SOURCE, causationId: `${commit.sequence}.${index}` };
        await approvals.change(place.org, { type: 'KeepRule', rule: event.data.rule }, meta);
      }
    },
  };
}
