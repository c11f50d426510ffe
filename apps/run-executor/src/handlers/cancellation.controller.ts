import { Inject, Injectable } from '@nestjs/common';
import type { Caller, RunEvent } from '@runyard/contracts';
import { parseWith, Problem, runRefSchema } from '@runyard/contracts';
import { RpcMethod } from '@runyard/service';
import { cancelRequestOf, receiptOf } from '../domain/cancellation';
import type { CancellationReceipt } from '../domain/cancellation';
import { fold } from '../domain/evolve';
import { NO_MATERIAL } from '../domain/material';
import { NO_RUN, stateOf } from '../domain/run';
import { RUN_CONTROLS } from '../tokens';
import { requireRight } from './controls.controller';
import type { RunLog } from './run-log.adapter';

/** Runs that a receipt lists; a tree that is larger is cut, visibly. */
const MOST = 200;

/** A run of the tree with the events of its log. */
interface Leaf {
  runId: string;
  parentRunId: string | null;
  events: readonly RunEvent[];
}

export interface ReceiptRow {
  run_id: string;
  parent_run_id: string | null;
  agent_id: string | null;
  /** `none`: it was granted, and is not born yet. */
  state: string;
  requested_at: string | null;
  quiet_at: string | null;
  /** Its end is in its log. */
  confirmed: boolean;
  stopped: { kind: string; step: number; name: string; call_id: string | null; outcome: string }[];
  calls_not_sent: number;
  tokens_after_request: number;
  estimated_tokens_after_request: number;
}

export interface ReceiptAnswer {
  run_id: string;
  /** Null: nobody has asked the run to be cancelled. */
  requested_at: string | null;
  requested_by: string | null;
  reason: string | null;
  /** When the last of the tree ended; null as long as one of them has not. */
  quiet_at: string | null;
  confirmed: boolean;
  unconfirmed: string[];
  tokens_after_request: number;
  /** The run, then those below it; runs that had ended before are left out. */
  runs: ReceiptRow[];
  truncated: boolean;
}

/**
 * `runs.cancellation`, for whoever may cancel the run: the receipt of a cancel, read from the logs of the run and all below it. Rows lag behind, and a
 * receipt that says "quiet" must be right.
 */
@Injectable()
export class CancellationController {
  constructor(@Inject(RUN_CONTROLS) private readonly ports: { runs: RunLog }) {}

  @RpcMethod('runs.cancellation')
  async receipt(caller: Caller, input: unknown): Promise<ReceiptAnswer> {
    const { run_id } = parseWith(runRefSchema, input);
    const { run } = await this.ports.runs.glance(caller.org, run_id);
    if (run.situation === 'ended' && run.deleted) throw new Problem('not_found', 'There is no such run.');
    requireRight(caller, run);
    const { leaves, truncated } = await this.tree(caller.org, run_id);
    return answerOf(run_id, leaves, truncated);
  }

  /** Breadth first, so that what is cut off is the deepest. */
  private async tree(org: string, runId: string): Promise<{ leaves: Leaf[]; truncated: boolean }> {
    const leaves: Leaf[] = [];
    let level: Omit<Leaf, 'events'>[] = [{ runId, parentRunId: null }];
    while (level.length > 0 && leaves.length < MOST) {
      const read = await Promise.all(
        level.slice(0, MOST - leaves.length).map((leaf) => this.read(org, leaf)),
      );
      leaves.push(...read);
      if (read.length < level.length) return { leaves, truncated: true };
      level = read.flatMap(childrenOf);
    }
    return { leaves, truncated: level.length > 0 };
  }

  private async read(org: string, leaf: Omit<Leaf, 'events'>): Promise<Leaf> {
    const subject = this.ports.runs.subject(org, leaf.runId);
    const { events } = await this.ports.runs.since({ subject, sequence: 0, freshAt: 0 });
    return { ...leaf, events };
  }
}

const childrenOf = ({ runId, events }: Leaf): Omit<Leaf, 'events'>[] =>
  events.flatMap((event) =>
    event.type === 'ChildGranted' ? [{ runId: event.data.childRunId, parentRunId: runId }] : [],
  );

function answerOf(runId: string, [root, ...below]: readonly Leaf[], truncated: boolean): ReceiptAnswer {
  const request = cancelRequestOf(root?.events ?? []);
  const since = request?.time ?? Infinity;
  const receipts = (root ? [root, ...below] : [])
    .map((leaf) => ({ leaf, receipt: receiptOf(leaf.events, since) }))
    .filter(({ leaf, receipt }) => leaf === root || receipt.quietAt === null || receipt.quietAt >= since);
  const rows = request === null ? [] : receipts.map(({ leaf, receipt }) => rowOf(leaf, receipt));
  const unconfirmed = rows.filter(({ confirmed }) => !confirmed).map((row) => row.run_id);
  const quiet = receipts.map(({ receipt }) => receipt.quietAt ?? Infinity);
  const confirmed = request !== null && unconfirmed.length === 0 && !truncated;
  return {
    run_id: runId,
    requested_at: timeOf(request?.time ?? null),
    requested_by: request?.actor ?? null,
    reason: request?.reason ?? null,
    quiet_at: confirmed ? timeOf(Math.max(...quiet)) : null,
    confirmed,
    unconfirmed,
    tokens_after_request: rows.reduce((sum, row) => sum + row.tokens_after_request, 0),
    runs: rows,
    truncated,
  };
}

function rowOf({ runId, parentRunId, events }: Leaf, receipt: CancellationReceipt): ReceiptRow {
  const run = fold(NO_RUN, events, NO_MATERIAL);
  return {
    run_id: runId,
    parent_run_id: parentRunId,
    agent_id: run.situation === 'none' ? null : (run.identity?.agentId ?? null),
    state: stateOf(run),
    requested_at: timeOf(receipt.requested?.time ?? null),
    quiet_at: timeOf(receipt.quietAt),
    confirmed: receipt.quietAt !== null,
    stopped: receipt.stopped.map(({ callId, ...effect }) => ({ ...effect, call_id: callId })),
    calls_not_sent: receipt.notSent,
    tokens_after_request: receipt.tokensAfter,
    estimated_tokens_after_request: receipt.estimatedAfter,
  };
}

const timeOf = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());
