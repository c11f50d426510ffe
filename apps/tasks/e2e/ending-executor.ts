import { REPLY_HEADER } from '@runyard/contracts';
import type { NewEvent, RunRequest } from '@runyard/contracts';
import { runIdOf } from '@runyard/event-log';
import type { ServiceServers } from '@runyard/testing';

/** What a run comes to: an output, or an end without one. */
export type RunEnd =
  | { output: string; steps?: number }
  | { failed: string }
  | { skipped: string }
  | { refused: string }
  | 'never';

type Append = (runId: string, events: NewEvent[]) => Promise<void>;

/** Spec-only. Intake and executor in one: the same request is the same run, which ends at once as a spec says. */
export class EndingExecutor {
  /** Requests as they were first taken; one that is sent again is no other. */
  readonly requests: RunRequest[] = [];
  readonly cancelled: string[] = [];
  ends: (request: RunRequest) => RunEnd = () => ({ output: 'done' });
  private readonly seen = new Set<string>();

  constructor(
    private readonly servers: ServiceServers,
    private readonly org: string,
    /** Appends to the log of a run. */
    private readonly append: Append,
  ) {}

  async start(): Promise<void> {
    this.serveCancel();
    await this.servers.takeRequests((request, { headers }) => this.run(request, headers));
  }

  /** The executor's part in a stop: the run ends as cancelled. */
  private serveCancel(): void {
    this.servers.connection.subscribe('runyard.rpc.run-executor.runs.cancel', {
      callback: (_error, message) => {
        const { run_id: runId } = message.json<{ input: { run_id: string } }>().input;
        this.cancelled.push(runId);
        const done = this.append(runId, [{ type: 'RunCancelled', data: { reason: 'user' } }]);
        void done.then(() => message.respond(JSON.stringify({ ok: true, value: {} })));
      },
    });
  }

  private async run(request: RunRequest, headers: Record<string, string>): Promise<void> {
    const runId = runIdOf(this.org, request.key);
    if (this.seen.has(runId)) return;
    this.seen.add(runId);
    this.requests.push(request);
    const end = this.ends(request);
    if (typeof end === 'object' && 'refused' in end) {
      const answer = { ok: false, code: end.refused, message: 'no' };
      return this.servers.connection.publish(headers[REPLY_HEADER] ?? '', JSON.stringify(answer));
    }
    const identity = {
      trigger: request.trigger,
      requestedBy: request.requested_by,
      agentId: request.agent_id,
    };
    if (typeof end === 'object' && 'skipped' in end)
      return this.append(runId, [
        { type: 'RunSkipped', data: { ...identity, reason: end.skipped, holder: 'run_x' } },
      ]);
    await this.append(runId, [{ type: 'RunQueued', data: identity }]);
    if (end === 'never') return;
    await this.append(runId, eventsOf(end));
  }
}

function eventsOf(end: { output: string; steps?: number } | { failed: string }): NewEvent[] {
  if ('failed' in end)
    return [
      {
        type: 'RunFailed',
        data: { termination: 'Error', reason: end.failed, error: { code: 'e', text: 'no' } },
      },
    ];
  const usage = { input: 10, output: 5, cached: 0, estimated: false };
  const turns = Array.from({ length: end.steps ?? 1 }, () => ({
    type: 'ModelTurnCompleted',
    data: { usage },
  }));
  return [...turns, { type: 'RunSucceeded', data: { output: { text: end.output } } }];
}
