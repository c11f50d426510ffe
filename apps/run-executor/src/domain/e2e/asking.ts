import type { ToolDefinition } from '@runyard/contracts';
import type { Answer } from '../approvals';
import { decideAnswer } from '../approvals';
import { claim } from '../claim';
import { decideControl } from '../controls';
import type { Control } from '../controls';
import type { Approvals, Circumstances, NewRunEvent } from '../decision';
import { decideAll, foldNew } from '../next';
import { isLive, NO_RUN } from '../run';
import type { CallState, LiveRun, Run } from '../run';
import { rulingByMode } from '../rulings';
import type { Ruling } from '../rulings';
import { born, circumstances } from './simulation';

/** Spec-only: a run whose calls people decide about. One commit a move, with everything that is decided from it. */

export const TTL_MS = 1_000;

const tool = (name: string, effect: 'read' | 'write', idempotent: boolean): ToolDefinition => ({
  name,
  description: '',
  inputSchema: {},
  effect,
  idempotent,
  source: { kind: 'builtin', name },
  timeoutMs: 1,
  endsRun: false,
});

/** Rulings by tool; what is not there is the mode's to say. */
export type Rules = Record<string, Ruling['decision']>;

export interface Start {
  mode?: 'plan' | 'ask' | 'auto';
  policy?: 'park' | 'end';
  rules?: Rules;
  maxSteps?: number;
}

export class AskingRun {
  run: Run = NO_RUN;
  log: NewRunEvent[] = [];
  now = 1_000;
  rules: Rules;
  policyVersion = 1;

  /** The same run at the same place; what happens to one does not happen to the other. */
  copy(): AskingRun {
    const copy = new AskingRun(null);
    return Object.assign(copy, { run: this.run, log: [...this.log], now: this.now, rules: this.rules });
  }

  constructor(start: Start | null = {}) {
    const { mode = 'ask', policy = 'park', rules = {}, maxSteps = 9 } = start ?? {};
    this.rules = rules;
    if (start === null) return;
    const first = born();
    if (first.type !== 'RunQueued') throw new Error('no birth');
    const { settings } = first.data;
    const bounds = { ...settings.bounds, maxSteps };
    this.append([
      { ...first, data: { ...first.data, settings: { ...settings, bounds, mode, approvalPolicy: policy } } },
    ]);
    this.claimed('first');
  }

  at(now: number): Circumstances {
    const approvals: Approvals = {
      policyVersion: this.policyVersion,
      rule: ({ mode }, { name, ...rest }) => this.ruling(name) ?? rulingByMode(mode, { name, ...rest }),
      idOf: (callId, kind, round) => `apr_${callId}_${kind}_${round}`,
      ttlMs: TTL_MS,
    };
    const tools = new Map(
      [tool('read', 'read', true), tool('put', 'write', true), tool('write', 'write', false)].map((one) => [
        one.name,
        one,
      ]),
    );
    const judge = (call: CallState) =>
      call.arguments === 'bad'
        ? ({ ok: false, code: 'invalid_arguments', text: 'bad' } as const)
        : ({ ok: true, digest: `d:${call.arguments}`, value: call.arguments } as const);
    return { ...circumstances(now), tools, judge, approvals };
  }

  append(facts: NewRunEvent[], decide = false): this {
    this.now += 1;
    const known = foldNew(this.run, facts, this.now);
    const decided = decide ? decideAll(known, this.at(this.now)) : [];
    this.run = foldNew(known, decided, this.now);
    this.log.push(...facts, ...decided);
    return this;
  }

  happens = (...facts: NewRunEvent[]): this => this.append(facts, true);
  claimed = (instance: string): this => this.append(claim(this.live, instance, 'woken'), true);
  control = (control: Control): this => this.append(decideControl(this.run, control));

  /** A decision of the approvals' log, taken over. */
  answered(over: Partial<Answer> & Pick<Answer, 'approvalId' | 'verdict'>): NewRunEvent[] {
    const answer = {
      arguments: null,
      argumentsDigest: this.askedDigest(over.approvalId),
      message: null,
      wholeGroup: false,
      decidedBy: 'user:reviewer',
      ruleId: null,
      ...over,
    };
    const events = decideAnswer(this.run, answer, this.now + 1, TTL_MS);
    this.append(events);
    return events;
  }

  /** Without edits a decision is about what was asked. */
  private askedDigest(approvalId: string): string {
    const { run } = this;
    const calls = isLive(run) && run.phase.name === 'calling_tools' ? run.phase.calls : [];
    const found = calls.find(({ question }) => question?.approvalId === approvalId);
    return found?.question?.argumentsDigest ?? '';
  }

  /** The model asks for tools, or answers where it asks for none. */
  asks(...calls: (string | [string, string])[]): this {
    const { phase } = this.live;
    if (phase.name !== 'calling_model') throw new Error(`no model call, but ${phase.name}`);
    const toolCalls = calls.map((call, index) => ({
      callId: `c${phase.step}-${index}`,
      providerCallId: '',
      tool: typeof call === 'string' ? call : call[0],
      arguments: { text: typeof call === 'string' ? '{}' : call[1] },
    }));
    return this.happens({
      type: 'ModelTurnCompleted',
      data: {
        step: phase.step,
        attempt: phase.attempt,
        modelId: 'm',
        provider: 'p',
        model: 'm',
        text: { text: 't' },
        reasoning: null,
        toolCalls,
        providerReason: '',
        finish: 'stop',
        usage: { input: 7, output: 3, cached: 0, estimated: false },
        startedAt: 0,
        providerState: null,
      },
    });
  }

  returns(callId: string): this {
    const call = this.call(callId);
    const data = {
      step: this.live.steps,
      callId,
      tool: call.tool,
      observation: { text: 'ok' },
      startedAt: 0,
    };
    return this.happens({ type: 'ToolCallSucceeded', data });
  }

  call(callId: string): CallState {
    const { phase } = this.live;
    const call =
      phase.name === 'calling_tools' ? phase.calls.find((one) => one.callId === callId) : undefined;
    if (!call) throw new Error(`no call ${callId}`);
    return call;
  }

  get live(): LiveRun {
    if (!isLive(this.run)) throw new Error('the run has ended');
    return this.run;
  }

  types(from = 0): string[] {
    return this.log.slice(from).map((event) => event.type);
  }

  /** Types since the last model turn. */
  since(): string[] {
    const turn = this.log.findLastIndex((event) => event.type === 'ModelTurnCompleted');
    return this.types(turn + 1);
  }

  private ruling(name: string): Ruling | null {
    const decision = this.rules[name];
    const by = { decidedBy: `rule:r-${name}`, ruleId: `r-${name}`, groupKey: `g-${name}` };
    return decision === undefined ? null : { decision, by };
  }
}
