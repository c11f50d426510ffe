import { Inject, Injectable } from '@nestjs/common';
import { listActivitySchema, parseWith } from '@runyard/contracts';
import type { ActivityRow, Caller } from '@runyard/contracts';
import { RpcMethod } from '@runyard/service';
import { ActivityQueries } from '../projections/activity.queries';
import type { Page } from '../projections/approval.queries';

/** RPC `activity.*`: what happened in the org. */
@Injectable()
export class ActivityController {
  constructor(@Inject(ActivityQueries) private readonly activity: ActivityQueries) {}

  @RpcMethod('activity.list')
  list(caller: Caller, body: unknown): Promise<Page<ActivityRow>> {
    return this.activity.list(caller, parseWith(listActivitySchema, body));
  }
}
