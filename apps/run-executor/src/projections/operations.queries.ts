import { toSafeInteger } from '@runyard/persistence';
import type { Database, Tx } from '@runyard/persistence';
import { claimSlots, holderOf, againIfRaced, usedKeys } from './slot-claims';
import type { SlotClaim, SlotRequest } from './slot-claims';

export type { SlotClaim, SlotRequest };

/** A run that a sweep must look at on its log; the row only says where to look (P3.3). */
export type OpenRun = { org: string; runId: string };

/** Rows that the projection is writing are passed over: two that lock the same rows in different orders end each other. */
const HEARTBEAT = `UPDATE run_drivers SET heartbeat_at = now() WHERE run_id IN
  (SELECT run_id FROM run_drivers WHERE run_id = ANY($1) AND instance = $2 FOR UPDATE SKIP LOCKED)`;

const orgOf = (slotKey: string): string => slotKey.split(':')[1] ?? '';

/**
 * Operational facts of runs (P8.6): slots, drivers and heartbeats, and what only time makes due. Ages are measured by the
 * database's clock, the one that all processes share. Sweeps see all orgs: a dead process drove runs of any of them.
 */
export class OperationsQueries {
  constructor(private readonly db: Database) {}

  /** Claims all slots of a run or none, in one statement (P2.3). */
  claimSlot(request: SlotRequest): Promise<SlotClaim> {
    return againIfRaced(() => this.db.inOrg(request.org, (tx) => claimSlots(tx, request)));
  }

  /** Run ids that were used before (P2.8), by the digest of the request. */
  usedKeys(org: string, runIds: readonly string[]): Promise<Map<string, string | null>> {
    return this.db.inOrg(org, (tx) => usedKeys(tx, runIds));
  }

  /** Takes a slot from a holder that has ended, exactly that row; false where somebody else was faster. */
  async replaceHolder(slotKey: string, holder: string, runId: string): Promise<boolean> {
    const replaced = await this.db.inOrg(orgOf(slotKey), (tx) =>
      tx.query(
        `UPDATE run_slots SET run_id = $3, previous_run_id = $2, claimed_at = now()
         WHERE slot_key = $1 AND run_id = $2 RETURNING slot_key`,
        [slotKey, holder, runId],
      ),
    );
    return replaced.length === 1;
  }

  /** Who holds a slot; null: nobody. */
  holderOf(slotKey: string): Promise<string | null> {
    return this.db.inOrg(orgOf(slotKey), (tx) => holderOf(tx, slotKey));
  }

  /** Frees a slot whose holder has ended, exactly that row. */
  async freeSlot(slotKey: string, holder: string): Promise<void> {
    await this.db.inOrg(orgOf(slotKey), (tx) =>
      tx.query('DELETE FROM run_slots WHERE slot_key = $1 AND run_id = $2', [slotKey, holder]),
    );
  }

  /** After a terminal event: the agent is free. A conversation remembers its last turn. `within`: a transaction at hand. */
  async releaseSlots(org: string, runId: string, within?: Tx): Promise<void> {
    const free = (tx: Tx) =>
      tx.query(`DELETE FROM run_slots WHERE run_id = $1 AND kind <> 'conversation'`, [runId]);
    await (within ? free(within) : this.db.inOrg(org, free));
  }

  /** Gives back everything that a run claimed and never needed: the conversation's turn before is the last one again. */
  async giveBack(org: string, runId: string): Promise<void> {
    await this.db.inOrg(org, (tx) =>
      tx.query(
        `WITH restored AS (UPDATE run_slots SET run_id = previous_run_id, previous_run_id = NULL
           WHERE run_id = $1 AND kind = 'conversation' AND previous_run_id IS NOT NULL)
         DELETE FROM run_slots WHERE run_id = $1 AND (kind <> 'conversation' OR previous_run_id IS NULL)`,
        [runId],
      ),
    );
  }

  /** Says that these runs are driven by this instance at this moment; others' runs are left alone. */
  async heartbeat(runIds: readonly string[], instance: string): Promise<void> {
    if (runIds.length === 0) return;
    await this.db.acrossOrgs('heartbeat', (tx) => tx.query(HEARTBEAT, [[...runIds], instance]), {
      synchronousCommit: false,
    });
  }

  /** Milliseconds since the driver of a run was last heard of; null: no driver is known. */
  async heartbeatAge(runId: string): Promise<number | null> {
    const [row] = await this.db.acrossOrgs('heartbeat age', (tx) =>
      tx.query<{ age: bigint }>(
        `SELECT (extract(epoch FROM clock_timestamp() - heartbeat_at) * 1000)::bigint AS age
         FROM run_drivers WHERE run_id = $1`,
        [runId],
      ),
    );
    return row ? Math.max(0, toSafeInteger(row.age)) : null;
  }

  /** Instances other than this one that runs name as their driver. */
  async otherInstances(instance: string): Promise<string[]> {
    const rows = await this.db.acrossOrgs('drivers', (tx) =>
      tx.query<{ instance: string }>('SELECT DISTINCT instance FROM run_drivers WHERE instance <> $1', [
        instance,
      ]),
    );
    return rows.map((row) => row.instance);
  }

  /** Runs that name an instance as their driver, those that were silent longest first. */
  runsOf(instance: string, limit: number): Promise<OpenRun[]> {
    return this.due(
      'WHERE instance = $1 ORDER BY heartbeat_at, run_id LIMIT $2',
      [instance, limit],
      'run_drivers',
    );
  }

  /** Runs whose driver has not been heard of for `ms`. */
  silentDrivers(ms: number, limit: number): Promise<OpenRun[]> {
    return this.due(
      `WHERE heartbeat_at < ${ago('$1')} ORDER BY heartbeat_at LIMIT $2`,
      [ms, limit],
      'run_drivers',
    );
  }

  /** Queued or woken runs that nobody has claimed for `ms`. */
  unclaimed(ms: number, limit: number): Promise<OpenRun[]> {
    return this.due(
      `r WHERE state IN ('queued', 'running') AND coalesce(heartbeat_at, created_at) < ${ago('$1')}
         AND NOT EXISTS (SELECT FROM run_drivers d WHERE d.run_id = r.run_id)
       ORDER BY created_at LIMIT $2`,
      [ms, limit],
    );
  }

  /** Paused runs whose time to live is over. */
  expiredPauses(limit: number): Promise<OpenRun[]> {
    return this.due(
      `WHERE state = 'paused' AND pause_expires_at < clock_timestamp() ORDER BY created_at LIMIT $1`,
      [limit],
    );
  }

  /** Ended runs that are older than their org keeps them, oldest first. */
  outlived(limit: number): Promise<OpenRun[]> {
    return this.due(
      `JOIN retention_settings r USING (org_id)
       WHERE state IN ('succeeded', 'failed', 'cancelled', 'skipped')
         AND coalesce(started_at, created_at) < clock_timestamp() - r.run_days * interval '1 day'
       ORDER BY coalesce(started_at, created_at) LIMIT $1`,
      [limit],
    );
  }

  /** Unfinished runs whose cancel was asked for more than `ms` ago (P5.1). */
  overdueCancels(ms: number, limit: number): Promise<OpenRun[]> {
    return this.due(
      `WHERE state IN ('queued', 'running', 'awaiting_approval', 'paused', 'waiting')
         AND cancel_requested_at < ${ago('$1')} ORDER BY created_at LIMIT $2`,
      [ms, limit],
    );
  }

  /** Slots older than `ms` whose run the log has never heard of, as far as its rows know (P2.6). */
  unbornSlots(ms: number, limit: number): Promise<OpenRun[]> {
    return this.due(
      `s WHERE claimed_at < ${ago('$1')} AND NOT EXISTS (SELECT FROM run_keys k WHERE k.run_id = s.run_id)
       ORDER BY claimed_at LIMIT $2`,
      [ms, limit],
      'run_slots',
    );
  }

  /** Holders of an agent's slot that have ended: whoever appended the end was gone before he freed it. */
  endedHolders(limit: number): Promise<OpenRun[]> {
    return this.due(
      `s WHERE kind = 'agent' AND EXISTS (SELECT FROM run_keys k WHERE k.run_id = s.run_id AND k.ended)
       ORDER BY claimed_at LIMIT $1`,
      [limit],
      'run_slots',
    );
  }

  private async due(
    condition: string,
    params: readonly unknown[],
    table: 'agent_runs' | 'run_drivers' | 'run_slots' = 'agent_runs',
  ): Promise<OpenRun[]> {
    const rows = await this.db.acrossOrgs(`sweep ${table}`, (tx) =>
      tx.query<{ org_id: string; run_id: string }>(
        `SELECT org_id, run_id FROM ${table} ${condition}`,
        params,
      ),
    );
    return rows.map(({ org_id, run_id }) => ({ org: org_id, runId: run_id }));
  }
}

/** The moment that many milliseconds ago, by the database's clock. */
const ago = (parameter: string): string => `clock_timestamp() - ${parameter} * interval '1 millisecond'`;
