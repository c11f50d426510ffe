import type { DefinitionSnapshot, ModelRoute } from '@runyard/contracts';
import { TRACE_HEADER } from '@runyard/contracts';
import type { QueueMessage } from '@runyard/event-log';
import { Metrics, Tracing } from '@runyard/service';
import type { OpenSpan } from '@runyard/service';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { NewRunEvent } from '../domain/decision';
import type { Run } from '../domain/run';
import type { LoadedRun } from './run-log.adapter';
import { outcomeOf, routeFacts, usageFacts } from './gen-ai-facts';

/** Borders as the GenAI conventions advise: seconds of an operation, tokens of a call. */
const SECONDS = [0.01, 0.04, 0.16, 0.64, 2.56, 10.24, 40.96, 81.92];
const TOKENS = [4, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576];

/** What models and tools are asked for, in the words of OpenTelemetry's GenAI conventions. Never what was said. */
export class RunTelemetry {
  private readonly seconds: Histogram<'gen_ai_operation_name' | 'gen_ai_request_model' | 'error_type'>;
  private readonly tokens: Histogram<'gen_ai_token_type' | 'gen_ai_request_model'>;
  private readonly toolCalls: Counter<'tool' | 'outcome'>;
  private readonly driven: Gauge;
  private readonly ended: Counter<'state' | 'reason'>;

  constructor(
    private readonly tracing = Tracing.off,
    { registry } = new Metrics('run-executor'),
  ) {
    const registers = [registry];
    this.seconds = new Histogram({
      name: 'gen_ai_client_operation_duration_seconds',
      help: 'Time of a model call, attempt by attempt',
      labelNames: ['gen_ai_operation_name', 'gen_ai_request_model', 'error_type'],
      buckets: SECONDS,
      registers,
    });
    this.tokens = new Histogram({
      name: 'gen_ai_client_token_usage',
      help: 'Tokens of a model call as the provider reports them',
      labelNames: ['gen_ai_token_type', 'gen_ai_request_model'],
      buckets: TOKENS,
      registers,
    });
    this.toolCalls = new Counter({
      name: 'runyard_tool_calls_total',
      help: 'Attempts at tool calls by what became of them',
      labelNames: ['tool', 'outcome'],
      registers,
    });
    this.driven = new Gauge({
      name: 'runyard_runs_driven',
      help: 'Runs that this process drives',
      registers,
    });
    this.ended = new Counter({
      name: 'runyard_runs_ended_total',
      help: 'Runs that ended under a driver of this process, by state and reason',
      labelNames: ['state', 'reason'],
      registers,
    });
  }

  /** Turning a request into a run, as part of the trace that it was sent in. */
  intake<T>(message: QueueMessage, work: () => Promise<T>): Promise<T> {
    const parent = message.headers[TRACE_HEADER];
    return this.tracing.within('intake', { kind: 'consumer', parent }, work);
  }

  /** The time that this process drives a run, as part of the trace that the run was asked for in. */
  driving(loaded: LoadedRun, definition: DefinitionSnapshot, work: () => Promise<Run>): Promise<Run> {
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': definition.agentId,
      'gen_ai.agent.name': definition.name,
      'gen_ai.agent.version': String(definition.agentVersion),
      ...runFacts(loaded),
    };
    const facts = { kind: 'internal', parent: loaded.traceparent, attributes } as const;
    return this.tracing.within(`invoke_agent ${definition.name}`, facts, async (span) => {
      this.driven.inc();
      const run = await work().finally(() => this.driven.dec());
      if (run.situation === 'ended') {
        this.ended.inc({ state: run.state, reason: run.reason ?? '' });
        span.set({ 'runyard.run.state': run.state });
        if (run.state === 'failed') span.fail(run.reason ?? 'error');
      }
      return run;
    });
  }

  /** One attempt at a model turn. */
  modelCall(
    loaded: LoadedRun,
    route: ModelRoute | undefined,
    work: () => Promise<NewRunEvent>,
  ): Promise<NewRunEvent> {
    const model = route?.model ?? '';
    const attributes = {
      'gen_ai.operation.name': 'chat',
      ...(route ? routeFacts(route) : {}),
      ...runFacts(loaded),
    };
    return this.tracing.within(`chat ${model}`, { kind: 'client', attributes }, async (span) => {
      const startedAt = performance.now();
      const fact = await work();
      const outcome = note(span, fact);
      const labels = { gen_ai_request_model: model };
      this.seconds.observe(
        { gen_ai_operation_name: 'chat', error_type: outcome.error ?? '', ...labels },
        (performance.now() - startedAt) / 1_000,
      );
      const usage = 'usage' in fact.data ? fact.data.usage : undefined;
      if (usage) {
        span.set(usageFacts(usage));
        this.tokens.observe({ gen_ai_token_type: 'input', ...labels }, usage.input);
        this.tokens.observe({ gen_ai_token_type: 'output', ...labels }, usage.output);
      }
      return fact;
    });
  }

  /** One attempt at a tool call. */
  toolCall(loaded: LoadedRun, call: ToolFacts, work: () => Promise<NewRunEvent>): Promise<NewRunEvent> {
    const facts = { kind: 'internal', attributes: toolFacts(loaded, call) } as const;
    return this.tracing.within(`execute_tool ${call.tool}`, facts, async (span) => {
      const fact = await work();
      this.toolCalls.inc({ tool: call.tool, outcome: note(span, fact).name });
      return fact;
    });
  }

  /**
   * Asking for the run that a call is. The spans of that run hang below this one and mostly outlive it: the asking run waits
   * without a process, and whoever goes on with it may be another.
   */
  delegation(
    loaded: LoadedRun,
    call: ToolFacts & { child: { runId: string } | null },
    work: () => Promise<NewRunEvent>,
  ): Promise<NewRunEvent> {
    const child = { 'runyard.child_run.id': call.child?.runId };
    const attributes = { ...toolFacts(loaded, call), ...child };
    return this.tracing.within(`execute_tool ${call.tool}`, { kind: 'producer', attributes }, work);
  }
}

interface ToolFacts {
  tool: string;
  callId: string;
}

const toolFacts = (loaded: LoadedRun, { tool, callId }: ToolFacts) => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': tool,
  'gen_ai.tool.call.id': callId,
  'gen_ai.tool.type': 'function',
  ...runFacts(loaded),
});

function note(span: OpenSpan, fact: NewRunEvent): { name: string; error: string | null } {
  const outcome = outcomeOf(fact);
  span.set(outcome.attributes);
  if (outcome.error !== null) span.fail(outcome.error);
  return outcome;
}

function runFacts({ org, runId, run }: LoadedRun): Record<string, string> {
  const identity = run.situation === 'none' ? null : run.identity;
  const conversation = identity?.conversationId;
  return {
    'runyard.run.id': runId,
    'runyard.org.id': org,
    ...(conversation ? { 'gen_ai.conversation.id': conversation } : {}),
  };
}
