import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { BulkKind, Caller } from '@runyard/contracts';
import {
  bulkReadSchema,
  bulkRefSchema,
  bulkResultsSchema,
  listBulkActionsSchema,
  parseWith,
  Problem,
  startBulkActionSchema,
  subjectOf,
  isoTime,
} from '@runyard/contracts';
import { derivedId } from '@runyard/event-log';
import type { EventLog } from '@runyard/event-log';
import { RpcMethod } from '@runyard/service';
import type { BulkAction } from '../domain/bulk-action';
import type { BulkFilter, BulkQueries } from '../projections/bulk.queries';
import { BULK_PORTS } from '../tokens';
import type { BulkLog } from './bulk-log.adapter';

/** Runs that a preview names. */
const SAMPLE = 10;

export interface BulkDoorPorts {
  bulkLog: BulkLog;
  bulkQueries: BulkQueries;
  log: Pick<EventLog, 'lastSequence'>;
}

/** What an action would be about. */
export interface BulkPreview {
  action: BulkKind;
  preview: true;
  count: number;
  sample: string[];
}

/** One action on every run that a filter finds: looked at first, then carried out by whichever process is there. */
@Injectable()
export class BulkController {
  constructor(@Inject(BULK_PORTS) private readonly ports: BulkDoorPorts) {}

  /** A preview, or the action as it stands after it was recorded; the same key names the same action. */
  @RpcMethod('bulk.start')
  async start(caller: Caller, input: unknown): Promise<BulkPreview | Record<string, unknown>> {
    const { action, filter: asked, preview, key } = parseWith(startBulkActionSchema, input);
    const filter = given(asked);
    const { org, actor, userId, roles } = caller;
    if (preview)
      return { action, preview, ...(await this.ports.bulkQueries.preview(caller, action, filter, SAMPLE)) };
    const id = derivedId('blk', org, ...(key === undefined ? [randomUUID()] : [actor, key]));
    const wish = { action, filter: filter as Record<string, string>, userId, roles: [...roles] };
    const { state, position } = await this.ports.bulkLog.decide(
      org,
      id,
      { type: 'StartBulkAction', wish },
      actor,
    );
    return rowOf(id, state, position);
  }

  @RpcMethod('bulk.list')
  list(caller: Caller, input: unknown) {
    return this.ports.bulkQueries.list(caller, parseWith(listBulkActionsSchema, input));
  }

  /** One that the log has and the rows do not have yet is waited for. */
  @RpcMethod('bulk.get')
  async get(caller: Caller, input: unknown) {
    const read = parseWith(bulkReadSchema, input);
    return this.known(caller, read, (asked) => this.ports.bulkQueries.get(caller, asked));
  }

  @RpcMethod('bulk.results')
  async results(caller: Caller, input: unknown) {
    const read = parseWith(bulkResultsSchema, input);
    return this.known(caller, read, (asked) => this.ports.bulkQueries.results(caller, asked));
  }

  /** Runs that are being told are finished; no further one is begun. Saying it twice is harmless. */
  @RpcMethod('bulk.abort')
  async abort(caller: Caller, input: unknown) {
    const { bulk_action_id: id } = parseWith(bulkRefSchema, input);
    requireRight(caller, await this.ports.bulkLog.read(caller.org, id));
    const { state, position } = await this.ports.bulkLog.decide(
      caller.org,
      id,
      { type: 'AbortBulkAction' },
      caller.actor,
    );
    return rowOf(id, state, position);
  }

  private async known<Read extends { bulk_action_id: string; at_least?: string }, T>(
    { org }: Caller,
    read: Read,
    work: (read: Read) => Promise<T>,
  ): Promise<T> {
    try {
      return await work(read);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'not_found' || read.at_least !== undefined)
        throw error;
      const sequence = await this.ports.log.lastSequence(subjectOf('bulk', org, read.bulk_action_id));
      if (sequence === 0) throw error;
      return work({ ...read, at_least: `${sequence}.0` });
    }
  }
}

const given = (filter: Record<string, unknown>): BulkFilter =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));

function requireRight({ actor, roles }: Caller, action: BulkAction): void {
  if (action.situation === 'absent') throw new Problem('not_found', 'There is no such bulk action.');
  if (action.askedBy === actor || roles.includes('admin') || roles.includes('operator')) return;
  throw new Problem(
    'forbidden',
    "The bulk action is somebody else's; they, an admin or operator may abort it.",
  );
}

/** As the log tells it; the rows say the same a moment later. */
function rowOf(id: string, action: BulkAction, position: string): Record<string, unknown> {
  if (action.situation === 'absent') throw new Problem('not_found', 'There is no such bulk action.');
  const { wish, askedBy, runIds, chosen, handled, outcomes, startedAt, abort } = action;
  const ended = action.situation === 'ended' ? action : undefined;
  return {
    bulk_action_id: id,
    action: wish.action,
    filter: wish.filter,
    state: ended?.how ?? (abort ? 'aborting' : 'running'),
    requested_by: askedBy,
    runs: runIds.length,
    chosen,
    handled,
    outcomes,
    created_at: isoTime(startedAt),
    abort_requested_at: abort && isoTime(abort.at),
    abort_requested_by: abort?.by ?? null,
    ended_at: ended ? isoTime(ended.endedAt) : null,
    position,
  };
}
