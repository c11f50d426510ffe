import type { OnApplicationBootstrap } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { RunEvent } from '@runyard/contracts';
import { parseSubject, RUN_EVENTS } from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import type { Commit, WorkQueues } from '@runyard/event-log';
import { mayHold } from '@runyard/persistence';
import type { ProjectedCommit, Projection } from '@runyard/persistence';
import { LOGGER, ProjectorHost, reactionProjection, WORK_QUEUES } from '@runyard/service';
import type { Logger } from '@runyard/service';
import type { ExecutorConfig } from '../config';
import { EXECUTOR, EXECUTOR_CONFIG } from '../tokens';
import type { Executor } from './assembly.process';
import type { Children } from './children.process';

/** Nearly every commit of the stream is passed by; those that concern it are few enough for one transaction. */
const BATCH = 500;
/** Who ends a child or cancels a parent does the rest at once; this is for when it did not live to do so. */
const GATHER_MS = 200;

/**
 * What happens to a run happens to those it has to do with: a child's end → `ChildSettled` in its parent; a parent's
 * `RunCancelRequested` → the cancel of every open child. Order: react (appends under expectation, decided on the logs as they
 * stand), then the checkpoint moves. A crash in between repeats the commit, which comes to nothing: a child is settled
 * once, and cancelling twice is one cancel.
 */
export function childrenReaction(children: Children, queues: WorkQueues, logger: Logger): Projection {
  const reaction = reactionProjection(
    {
      name: 'run-children-reaction',
      version: 1,
      stream: 'RUNS',
      react: (commit, tx) => react(children.within(tx), commit),
    },
    queues,
    logger,
  );
  return {
    ...reaction,
    gatherMs: GATHER_MS,
    concerns,
  };
}

/** A look at the bytes: steps of runs come by the thousand, and most ends are those of runs without a parent. */
function concerns(commit: ProjectedCommit): boolean {
  if (mayHold(commit, ['RunCancelRequested'])) return true;
  if (!mayHold(commit, ENDS)) return false;
  const { buffer, byteOffset, byteLength } = commit.body;
  return Buffer.from(buffer, byteOffset, byteLength).includes('"parentRunId":"');
}

const ENDS = ['RunSucceeded', 'RunFailed', 'RunCancelled'];

async function react(children: Children, commit: Commit): Promise<void> {
  const place = parseSubject(commit.subject);
  if (place?.context !== 'runs') return;
  const { org, id } = place;
  for (const event of decodeEvents(commit, RUN_EVENTS).events as RunEvent[]) {
    if (event.type === 'RunCancelRequested') await children.cancelAll(org, id);
    if (event.type !== 'RunSucceeded' && event.type !== 'RunFailed' && event.type !== 'RunCancelled')
      continue;
    if (event.data.parentRunId !== undefined) await children.settle(org, event.data.parentRunId, id);
  }
}

/** Runs what reads every commit of runs and acts on few with the service. */
@Injectable()
export class ChildrenReaction implements OnApplicationBootstrap {
  constructor(
    @Inject(ProjectorHost) private readonly projectors: ProjectorHost,
    @Inject(EXECUTOR) private readonly executor: Executor,
    @Inject(EXECUTOR_CONFIG) private readonly config: ExecutorConfig,
    @Inject(WORK_QUEUES) private readonly queues: WorkQueues,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.projections) return;
    const { children, wakings } = this.executor;
    const { queues, logger } = this;
    this.projectors.start([childrenReaction(children, queues, logger), wakings.reaction(queues, logger)], {
      batchSize: BATCH,
    });
  }
}
