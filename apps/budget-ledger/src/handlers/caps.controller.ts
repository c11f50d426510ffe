import { Inject, Injectable } from '@nestjs/common';
import { clearCapSchema, getCapSchema, listCapsSchema, parseWith, setCapSchema } from '@runyard/contracts';
import type { CapRow, Caller } from '@runyard/contracts';
import { handle } from '@runyard/event-log';
import { RpcMethod, commitMeta } from '@runyard/service';
import { capEntry } from '../domain/caps';
import type { Caps, CapsCommand } from '../domain/caps';
import { BudgetLog, SOURCE } from './budget-log.adapter';
import { ownerCursor } from './owner-cursor';
import { orgOf, requireAdmin, sightOf } from './rights';

type Changed = CapRow & { position: string };

/** RPC for caps: one for all owners of the org, and exceptions. A change holds for the runs that start after it. */
@Injectable()
export class CapsController {
  constructor(@Inject(BudgetLog) private readonly budgets: BudgetLog) {}

  @RpcMethod('budgets.set_cap')
  set(caller: Caller, body: unknown): Promise<Changed> {
    const { owner_id: ownerId = null, tokens, if_match: etag } = parseWith(setCapSchema, body);
    return this.act(caller, { type: 'SetCap', ownerId, tokens, expected: expectedOf(etag) });
  }

  @RpcMethod('budgets.clear_cap')
  clear(caller: Caller, body: unknown): Promise<Changed> {
    const { owner_id: ownerId, if_match: etag } = parseWith(clearCapSchema, body);
    return this.act(caller, { type: 'ClearCap', ownerId, expected: expectedOf(etag) });
  }

  @RpcMethod('budgets.get_cap')
  async get(caller: Caller, body: unknown): Promise<CapRow> {
    const { owner_id: ownerId } = parseWith(getCapSchema, body);
    if (ownerId !== undefined) sightOf(caller, ownerId);
    return capRow(await this.budgets.caps(orgOf(caller)), ownerId ?? null);
  }

  /** The default first, then owners with a cap of their own. */
  @RpcMethod('budgets.list_caps')
  async list(caller: Caller, body: unknown): Promise<{ data: CapRow[]; next_cursor: string | null }> {
    const { limit, cursor: given } = parseWith(listCapsSchema, body);
    const cursor = ownerCursor(given) ?? '';
    const own = sightOf(caller, undefined);
    const caps = await this.budgets.caps(orgOf(caller));
    const owners = Object.keys(caps.owners)
      .filter((ownerId) => caps.owners[ownerId]?.set && ownerId > cursor && (own === null || ownerId === own))
      .toSorted();
    const page = owners.slice(0, limit);
    const first = cursor === '' ? [capRow(caps, null)] : [];
    const next = owners.length > page.length ? (page.at(-1) ?? null) : null;
    return { data: [...first, ...page.map((ownerId) => capRow(caps, ownerId))], next_cursor: next };
  }

  private async act(caller: Caller, command: CapsCommand): Promise<Changed> {
    requireAdmin(caller);
    const aggregate = this.budgets.capsOf(orgOf(caller));
    const { state, position } = await handle(
      this.budgets.log,
      aggregate,
      command,
      commitMeta(caller, SOURCE),
    );
    return { ...capRow(state, command.ownerId), position };
  }
}

const expectedOf = (etag: string | undefined): number | undefined =>
  etag === undefined ? undefined : Number(etag);

function capRow(caps: Caps, ownerId: string | null): CapRow {
  const { tokens, source, changes } = capEntry(caps, ownerId);
  return { owner_id: ownerId, tokens, source, etag: String(changes) };
}
