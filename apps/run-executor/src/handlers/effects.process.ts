import type { DefinitionSnapshot } from '@runyard/contracts';
import type { Circumstances, NewRunEvent } from '../domain/decision';
import { isLive, usedMilliseconds } from '../domain/run';
import type { CallState, LiveRun, Run } from '../domain/run';
import { messagesOf } from '../domain/transcript';
import { parseArguments } from '../tools/arguments';
import { callModelOnce } from './model-call.process';
import type { ModelCallPorts } from './model-call.process';
import type { LoadedRun } from './run-log.adapter';
import { callToolOnce } from './tool-call.process';
import type { ToolCallPorts } from './tool-call.process';

export type EffectPorts = ModelCallPorts & ToolCallPorts;

/** The effects of one run that are under way: model calls and tool calls that the log has announced. */
export class Effects {
  private readonly running = new Map<string, AbortController>();

  constructor(
    private readonly ports: EffectPorts,
    private readonly loaded: LoadedRun,
    private readonly definition: DefinitionSnapshot,
    private readonly at: Omit<Circumstances, 'now'>,
    private readonly report: { fact: (fact: NewRunEvent) => void; crash: (error: unknown) => void },
  ) {}

  get count(): number {
    return this.running.size;
  }

  /** Starts what the log has announced and nobody runs yet. */
  start(run: Run): void {
    if (!isLive(run) || run.cancelRequested) return;
    const { phase } = run;
    if (phase.name === 'calling_model') this.launch(`m${phase.step}.${phase.attempt}`, (signal) => this.model(run, signal));
    if (phase.name !== 'calling_tools') return;
    phase.calls.forEach((call, index) => {
      if (call.status === 'in_flight')
        this.launch(`${call.callId}.${call.attempt}`, (signal) => this.tool(run, call, index, signal));
    });
  }

  /** Aborts what a control or the deadline forbids: a cancel everything, a pause the model call alone. */
  obey(run: Run, now: number): void {
    if (!isLive(run)) return;
    const overdue = usedMilliseconds(run, now) >= run.bounds.deadlineSeconds * 1_000;
    for (const [key, controller] of this.running) {
      const paused = run.pauseRequested && key.startsWith('m');
      if (run.cancelRequested || overdue || paused) controller.abort();
    }
  }

  /** Aborts everything; what becomes of it is nobody's business any more. */
  abort(): void {
    for (const controller of this.running.values()) controller.abort();
  }

  private launch(key: string, effect: (signal: AbortSignal) => Promise<NewRunEvent>): void {
    if (this.running.has(key)) return;
    const controller = new AbortController();
    this.running.set(key, controller);
    void effect(controller.signal).then(
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
    return callModelOnce(this.ports, { org, run, phase, definition: this.definition, overheadBytes, deadlineLeftMs, signal });
  }

  private async tool(run: LiveRun, call: CallState, index: number, signal: AbortSignal): Promise<NewRunEvent> {
    const tool = this.at.tools.get(call.tool);
    const parsed = tool ? parseArguments(call.arguments, tool) : undefined;
    if (!tool || !parsed?.ok || run.phase.name !== 'calling_tools') throw new Error(`${call.callId} was started without a judgement`);
    const before = messagesOf(run.transcript).filter((message) => message.role === 'tool').length;
    return callToolOnce(this.ports, {
      org: this.loaded.org,
      runId: this.loaded.runId,
      conversationId: run.identity.conversationId,
      ownerId: run.identity.ownerId,
      step: run.phase.step,
      call,
      tool,
      arguments: parsed.value,
      position: before + index,
      signal,
    });
  }
}
