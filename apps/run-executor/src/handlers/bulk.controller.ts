import { Inject, Injectable } from '@nestjs/common';
import type { Caller, RunState } from '@runyard/contracts';
import { bulkActionSchema, parseWith, Problem, UNFINISHED_STATES } from '@runyard/contracts';
import { RpcMethod } from '@runyard/service';
import type { RunFilter, RunQueries } from '../projections/run.queries';
import { RUN_QUERIES } from '../tokens';
import { ControlsController } from './controls.controller';

/** Runs that one action takes up; the answer says whether more are left, and the same action takes those up next. */
const MOST = 500;
const PAGE = 100;
/** Runs that a preview shows. */
const SAMPLE = 10;
/** Runs that are told at once. */
const AT_ONCE = 16;

export interface BulkResult {
  run_id: string;
  /** `cancelled`, or `requested` where its driver still has to obey, or why not. */
  outcome: 'cancelled' | 'requested' | 'refused';
  state: string | null;
  code: string | null;
  detail: string | null;
}

export interface BulkAnswer {
  action: 'cancel';
  preview: boolean;
  /** Unfinished runs that the filter found, `MOST` at most. */
  count: number;
  more: boolean;
  sample: string[];
  results: BulkResult[];
}

/** One action on many runs, chosen as a list is: a preview first, a result for each. */
@Injectable()
export class BulkController {
  constructor(
    @Inject(RUN_QUERIES) private readonly queries: RunQueries,
    @Inject(ControlsController) private readonly controls: ControlsController,
  ) {}

  @RpcMethod('runs.bulk')
  async bulk(caller: Caller, input: unknown): Promise<BulkAnswer> {
    const { action, filter, preview } = parseWith(bulkActionSchema, input);
    const { ids, more } = await this.unfinished(caller, filter);
    const results: BulkResult[] = [];
    for (let from = 0; !preview && from < ids.length; from += AT_ONCE) {
      const told = ids.slice(from, from + AT_ONCE).map((id) => this.cancel(caller, id));
      results.push(...(await Promise.all(told)));
    }
    return { action, preview, count: ids.length, more, sample: ids.slice(0, SAMPLE), results };
  }

  private async unfinished(caller: Caller, filter: RunFilter): Promise<{ ids: string[]; more: boolean }> {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const asked = {
        status: 'running',
        ...filter,
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      };
      const page = await this.queries.list(caller, asked);
      for (const { run_id: id, state } of page.data)
        if (UNFINISHED.has(state as RunState)) ids.push(String(id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && ids.length < MOST);
    return { ids: ids.slice(0, MOST), more: cursor !== undefined || ids.length > MOST };
  }

  private async cancel(caller: Caller, runId: string): Promise<BulkResult> {
    try {
      const { state } = await this.controls.cancel(caller, { run_id: runId });
      const outcome = state === 'cancelled' ? 'cancelled' : 'requested';
      return { run_id: runId, outcome, state, code: null, detail: null };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { run_id: runId, outcome: 'refused', state: null, code: error.code, detail: error.message };
    }
  }
}

const UNFINISHED: ReadonlySet<RunState> = new Set(UNFINISHED_STATES);
