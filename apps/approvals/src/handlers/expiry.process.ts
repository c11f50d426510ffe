import type { Logger } from '@runyard/service';
import type { DueApproval, DueQueries } from '../projections/due.queries';
import type { ApprovalLog } from './approval-log.adapter';

/** Expired in one pass; more wait for the next. */
const MOST = 500;

/**
 * Ends what nobody decided in time. Only tidies up: that a late decision is refused is judged in the decision itself, so a
 * timer that is late lets nothing through, and of a race of both the log takes one.
 */
export class Expiry {
  constructor(
    private readonly approvals: ApprovalLog,
    private readonly rows: DueQueries,
    private readonly now: () => number,
    private readonly logger: Pick<Logger, 'error'>,
  ) {}

  async pass(): Promise<void> {
    for (const due of await this.rows.due(this.now(), MOST)) await this.expire(due);
  }

  /** One that cannot be decided about does not keep the others waiting. */
  private async expire({ org, approvalId }: DueApproval): Promise<void> {
    try {
      await this.approvals.react(org, approvalId, { type: 'ExpireApproval', now: this.now() }, 'expiry');
    } catch (error) {
      this.logger.error(
        { err: error, org, approvalId },
        'an approval could not be expired and is tried again',
      );
    }
  }
}
