import type { BulkEvent, Caller } from '@runyard/contracts';
import { BULK_EVENTS, subjectOf } from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import { BulkQueries } from '../../projections/bulk.queries';
import { BulkController } from '../bulk.controller';
import type { TestExecutor } from './test-executor';
import { CALLER, ORG } from './world';
import type { World } from './world';

/** Spec-only: bulk actions as callers and their log see them. */
export class BulkDoor {
  readonly controller: BulkController;

  constructor(
    private readonly world: World,
    executor: TestExecutor,
  ) {
    const { bulkLog } = executor.executor;
    this.controller = new BulkController({
      bulkLog,
      bulkQueries: new BulkQueries(world.db),
      log: world.bus.log,
    });
  }

  async start(body: object, caller: Caller = CALLER): Promise<string> {
    const { bulk_action_id: id } = (await this.controller.start(caller, body)) as { bulk_action_id: string };
    return id;
  }

  /** The row once it reflects the whole log. */
  async row(id: string, caller: Caller = CALLER): Promise<Record<string, unknown>> {
    const sequence = await this.world.bus.log.lastSequence(subjectOf('bulk', ORG, id));
    return this.controller.get(caller, { bulk_action_id: id, at_least: `${sequence}.0` });
  }

  async results(id: string, more: object = {}): Promise<Record<string, unknown>[]> {
    const { data } = await this.controller.results(CALLER, { bulk_action_id: id, limit: 200, ...more });
    return data;
  }

  async events(id: string): Promise<BulkEvent[]> {
    const commits = await this.world.bus.log.read(subjectOf('bulk', ORG, id));
    return commits.flatMap((commit) => decodeEvents(commit, BULK_EVENTS).events as BulkEvent[]);
  }

  /** Every result that the log holds, in order. */
  async recorded(id: string): Promise<string[]> {
    return (await this.events(id)).flatMap((event) =>
      event.type === 'BulkRunsHandled' ? event.data.results.map(({ runId }) => runId) : [],
    );
  }

  async ended(id: string): Promise<boolean> {
    return (await this.events(id)).some(
      ({ type }) => type === 'BulkActionCompleted' || type === 'BulkActionAborted',
    );
  }
}
