import { Inject, Injectable } from '@nestjs/common';
import { changeReservationSchema, parseWith, releaseSchema, reserveSchema } from '@runyard/contracts';
import type { Caller, ReserveAnswer } from '@runyard/contracts';
import { RpcMethod } from '@runyard/service';
import { Ledger } from './ledger.process';
import type { RunOf } from './ledger.process';
import { orgOf, requirePlatform } from './rights';

/** RPC `budgets.reserve`, `.change` and `.release`: what runs hold. Each may be said again without another effect. */
@Injectable()
export class ReservationsController {
  constructor(@Inject(Ledger) private readonly ledger: Ledger) {}

  @RpcMethod('budgets.reserve')
  reserve(caller: Caller, body: unknown): Promise<ReserveAnswer> {
    const { tokens, smallest, ...run } = parseWith(reserveSchema, body);
    return this.ledger.reserve(runOf(caller, run), tokens, smallest);
  }

  @RpcMethod('budgets.change')
  change(caller: Caller, body: unknown): Promise<ReserveAnswer> {
    const { tokens, reason, at, ...run } = parseWith(changeReservationSchema, body);
    return this.ledger.change(runOf(caller, run), tokens, reason, at);
  }

  @RpcMethod('budgets.release')
  async release(caller: Caller, body: unknown): Promise<{ released: true }> {
    await this.ledger.release(runOf(caller, parseWith(releaseSchema, body)), 'not_needed');
    return { released: true };
  }
}

function runOf(caller: Caller, run: { run_id: string; owner_id: string }): RunOf {
  requirePlatform(caller);
  return { org: orgOf(caller), ownerId: run.owner_id, runId: run.run_id };
}
