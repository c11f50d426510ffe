import { RUN_APPROVAL_EVENTS, RUN_EVENTS, subjectOf } from '@runyard/contracts';
import type {
  Caller,
  DefinitionSnapshot,
  DomainEvent,
  RunApprovalEvent,
  RunEvent,
  StoredText,
  ToolDefinition,
} from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import type { Commit, EventLog } from '@runyard/event-log';
import type { Blobs } from '@runyard/persistence';
import type { RpcClient } from '@runyard/service';

/** What a question needs to say of its run. */
export interface RunFacts {
  agentId: string;
  agentVersion: number;
  ownerId: string;
  /** Digest of the definition that it runs with. */
  definition: string;
}

/** Ends after which nothing can be decided any more. */
export const RUN_ENDS: readonly string[] = [
  'RunSucceeded',
  'RunFailed',
  'RunCancelled',
  'RunSkipped',
  'RunDeleted',
];
const KNOWN = { ...RUN_EVENTS, ...RUN_APPROVAL_EVENTS };
const MOST_KEPT = 5_000;
/** Steps that a reviewer is shown. */
const LAST_STEPS = 6;
/** Longest text that is read back from a blob for an answer, in bytes. */
const LONGEST = 200_000;

export type RunRecord = RunEvent | RunApprovalEvent;

/** Events of a commit of RUNS that are known here. */
export const runRecords = (commit: Commit): RunRecord[] =>
  decodeEvents(commit, KNOWN).events as DomainEvent[] as RunRecord[];

/** What the executor says of runs: their logs, the definitions they run with, and their rows. */
export class Runs {
  private readonly kept = new Map<string, RunFacts>();

  constructor(
    private readonly log: Pick<EventLog, 'read' | 'last'>,
    private readonly blobs: Pick<Blobs, 'get'>,
    private readonly rpc: RpcClient,
  ) {}

  /** From the run's first event; undefined: there is no such run. */
  async facts(org: string, runId: string): Promise<RunFacts | undefined> {
    const subject = subjectOf('runs', org, runId);
    const known = this.kept.get(subject);
    if (known) return known;
    const [first] = await this.log.read(subject);
    const queued = first && runRecords(first).find((event) => event.type === 'RunQueued');
    if (queued?.type !== 'RunQueued') return undefined;
    const { agentId, agentVersion, ownerId, definition } = queued.data;
    const facts = { agentId, agentVersion, ownerId, definition };
    if (this.kept.size >= MOST_KEPT) this.kept.clear();
    this.kept.set(subject, facts);
    return facts;
  }

  /** Whether its log says that it has ended: rows and reactions may not know it yet. */
  async hasEnded(org: string, runId: string): Promise<boolean> {
    const last = await this.log.last(subjectOf('runs', org, runId));
    return last !== undefined && runRecords(last).some(({ type }) => RUN_ENDS.includes(type));
  }

  /** The tool as the run has it, whatever became of the catalogue since; undefined: the definition was erased. */
  async tool(org: string, runId: string, name: string): Promise<ToolDefinition | undefined> {
    const facts = await this.facts(org, runId);
    const text = facts && (await this.blobs.get(org, facts.definition));
    if (text === undefined) return undefined;
    return (JSON.parse(text) as DefinitionSnapshot).tools.find((tool) => tool.name === name);
  }

  /** A whole text, where it is there and not too long for an answer. */
  async whole(org: string, stored: StoredText): Promise<string | undefined> {
    if ('text' in stored) return stored.text;
    return stored.bytes > LONGEST ? undefined : this.blobs.get(org, stored.digest);
  }

  /**
   * A run's row and its last steps, in the service's own name: who may see the question may see what led to it. Null where
   * the executor does not answer: a decision must not wait for the context that is shown with it.
   */
  async context(org: string, runId: string): Promise<{ run: object; steps: unknown[] } | null> {
    const caller: Caller = { org, actor: 'system:approvals', userId: null, roles: ['operator'] };
    try {
      const run = await this.rpc.call<Record<string, unknown>>('run-executor', 'runs.get', caller, {
        run_id: runId,
      });
      const before = Number(run.steps ?? 0) + Number(run.tool_calls ?? 0) - LAST_STEPS;
      const input = { run_id: runId, after: Math.max(0, before), limit: 100 };
      const page = await this.rpc.call<{ data: unknown[] }>('run-executor', 'runs.steps', caller, input);
      return { run, steps: page.data.slice(-LAST_STEPS) };
    } catch {
      return null;
    }
  }
}
