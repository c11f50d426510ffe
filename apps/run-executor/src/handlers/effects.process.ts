import type { DefinitionSnapshot } from '@runyard/contracts';
import type { NewRunEvent } from '../domain/decision';
import { doomed } from '../domain/ruin';
import { isLive, usedMilliseconds } from '../domain/run';
import type { CallState, LiveRun, Phase, Run } from '../domain/run';
import { messagesOf } from '../domain/transcript';
import { ChildEffects } from './child-effects.process';
import type { Children } from './children.process';
import type { DriveCircumstances } from './judgement.adapter';
import { callModelOnce, NOTHING_USED } from './model-call.process';
import type { ModelCallPorts } from './model-call.process';
import type { LoadedRun } from './run-log.adapter';
import type { RunTelemetry } from './telemetry.adapter';
import { callToolOnce } from './tool-call.process';
import type { ToolCallPorts } from './tool-call.process';

export type EffectPorts = ModelCallPorts & ToolCallPorts & { telemetry: RunTelemetry; children: Children };

/** An effect that the log has announced: one attempt at a model turn or at a tool call, or the request for a child. */
interface Announced {
  key: string;
  kind: 'model' | 'tool';
  send: (signal: AbortSignal) => Promise<NewRunEvent>;
  /** The fact that it was not sent; null: `obey` does what is to be done about it. */
  unsent: (() => NewRunEvent) | null;
}

/**
 * The effects of one run that are under way: model calls and tool calls that the log has announced. Each is sent at most
 * once by this object, or reported as not sent: the log shows an effect as under way until its result is recorded there.
 */
export class Effects {
  private readonly running = new Map<string, AbortController>();
  private readonly taken = new Set<string>();
  private readonly ofChildren: ChildEffects;
  private counted = { messages: 0, results: 0 };

  constructor(
    private readonly ports: EffectPorts,
    private readonly loaded: LoadedRun,
    private readonly definition: DefinitionSnapshot,
    private readonly at: DriveCircumstances,
    private readonly report: { fact: (fact: NewRunEvent) => void; crash: (error: unknown) => void },
  ) {
    this.ofChildren = new ChildEffects(ports.children, loaded.org, loaded.runId);
  }

  get count(): number {
    return this.running.size;
  }

  /** Whether the log has announced something that was not sent yet. */
  hasUnsent(run: Run): boolean {
    return this.announced(run).length > 0;
  }

  /** Sends what the log has announced; what a control or the deadline forbids by now is reported as not sent. */
  start(run: Run, now: number, stopping: boolean): void {
    for (const effect of this.announced(run)) {
      this.taken.add(effect.key);
      // A process that stops still makes the tool calls that it announced: its heir could not tell that they never went out.
      if (!forbidden(run, effect.kind, now) && !(stopping && effect.kind === 'model')) this.launch(effect);
      else if (effect.unsent) this.report.fact(effect.unsent());
    }
  }

  /** Aborts what a control or the deadline forbids: a cancel everything, a pause the model call alone. */
  obey(run: Run, now: number): void {
    for (const [key, controller] of this.running) if (forbidden(run, kindOf(key), now)) controller.abort();
    if (isLive(run) && (forbidden(run, 'tool', now) || doomed(run))) this.ofChildren.cancel(run);
  }

  /** Aborts everything, or all of a kind. */
  abort(kind?: Announced['kind']): void {
    for (const [key, controller] of this.running)
      if (kind === undefined || kindOf(key) === kind) controller.abort();
  }

  private announced(run: Run): Announced[] {
    if (!isLive(run)) return [];
    const { phase } = run;
    if (phase.name === 'calling_model') {
      const key = `m${phase.step}.${phase.attempt}`;
      if (this.taken.has(key)) return [];
      return [
        { key, kind: 'model', send: (signal) => this.model(run, signal), unsent: () => unsentModel(phase) },
      ];
    }
    if (phase.name !== 'calling_tools') return [];
    return phase.calls.flatMap((call, index): Announced[] => {
      const key = `${call.callId}.${call.attempt}`;
      if (call.status !== 'in_flight' || this.taken.has(key)) return [];
      const request = this.ofChildren.requestFor(call);
      if (request === null) return [];
      if (request) {
        const asked = () => this.ports.telemetry.delegation(this.loaded, call, request);
        return [{ key, kind: 'tool', send: asked, unsent: null }];
      }
      const send = (signal: AbortSignal) => this.tool(run, call, index, signal);
      return [{ key, kind: 'tool', send, unsent: () => unsentTool(phase.step, call) }];
    });
  }

  private launch({ key, send }: Announced): void {
    const controller = new AbortController();
    this.running.set(key, controller);
    void send(controller.signal).then(
      (fact) => {
        this.running.delete(key);
        this.report.fact(fact);
      },
      (error: unknown) => {
        this.running.delete(key);
        this.report.crash(error);
      },
    );
  }

  private async model(run: LiveRun, signal: AbortSignal): Promise<NewRunEvent> {
    const { phase } = run;
    if (phase.name !== 'calling_model') throw new Error('no model call is announced');
    const deadlineLeftMs = run.bounds.deadlineSeconds * 1_000 - usedMilliseconds(run, this.ports.clock());
    const { org } = this.loaded;
    const { overheadBytes } = this.at;
    const { definition } = this;
    const work = { org, run, phase, definition, overheadBytes, deadlineLeftMs, signal };
    return this.ports.telemetry.modelCall(this.loaded, definition.models[phase.route], () =>
      callModelOnce(this.ports, work),
    );
  }

  /** Results of tools in the dialog so far. It only grows, so that each message is looked at once. */
  private resultsBefore({ transcript }: LiveRun): number {
    const messages = messagesOf(transcript);
    if (messages.length < this.counted.messages) this.counted = { messages: 0, results: 0 };
    for (; this.counted.messages < messages.length; this.counted.messages++)
      if (messages[this.counted.messages]?.role === 'tool') this.counted.results++;
    return this.counted.results;
  }

  private async tool(
    run: LiveRun,
    call: CallState,
    index: number,
    signal: AbortSignal,
  ): Promise<NewRunEvent> {
    const tool = this.at.tools.get(call.tool);
    const parsed = tool ? this.at.argumentsFor(tool, call.arguments) : undefined;
    if (!tool || !parsed?.ok || run.phase.name !== 'calling_tools')
      throw new Error(`${call.callId} was started without a judgement`);
    const work = {
      org: this.loaded.org,
      runId: this.loaded.runId,
      conversationId: run.identity.conversationId,
      ownerId: run.identity.ownerId,
      step: run.phase.step,
      call,
      tool,
      arguments: parsed.value,
      position: this.resultsBefore(run) + index,
      signal,
    };
    return this.ports.telemetry.toolCall(this.loaded, call, () => callToolOnce(this.ports, work));
  }
}

const kindOf = (key: string): Announced['kind'] => (key.startsWith('m') ? 'model' : 'tool');

/** A cancel and the deadline forbid everything, a pause the model call alone. */
function forbidden(run: Run, kind: Announced['kind'], now: number): boolean {
  if (!isLive(run)) return false;
  const overdue = usedMilliseconds(run, now) >= run.bounds.deadlineSeconds * 1_000;
  return run.cancelRequested !== null || overdue || (run.pauseRequested && kind === 'model');
}

const unsentModel = (phase: Extract<Phase, { name: 'calling_model' }>): NewRunEvent => ({
  type: 'ModelCallFailed',
  data: {
    step: phase.step,
    attempt: phase.attempt,
    modelId: phase.modelId,
    error: { code: 'cancelled', text: 'Not sent.', status: null },
    partialText: null,
    usage: NOTHING_USED,
    next: 'retry',
    retryInMs: 0,
  },
});

const unsentTool = (step: number, { callId, tool }: CallState): NewRunEvent => ({
  type: 'ToolCallCancelled',
  data: { step, callId, tool, observation: { text: 'Not run: the run was ended first.' }, startedAt: null },
});
