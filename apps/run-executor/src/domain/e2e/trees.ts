import { claim, needsBudget } from '../claim';
import { openChildren } from '../children';
import type { DelegatedCall } from '../children';
import { decideControl } from '../controls';
import type { Control } from '../controls';
import type { Circumstances, NewRunEvent } from '../decision';
import { dated, decideAll, foldNew } from '../next';
import { isLive, isParked, NO_RUN } from '../run';
import type { LiveRun, Run } from '../run';
import { settleChild } from '../settlement';
import type { ChildEnd } from '../settlement';
import { circumstances } from './simulation';
import { queued, spendOf, TOOLS, turnOf } from './tree-events';
import { ModelLedger } from './model-ledger';

/**
 * Spec-only. Trees of runs under the real deciders and a seeded scheduler: any driver is lost between any two commits, every
 * message between runs is late, doubled or out of order, people pause and cancel, and the cap moves.
 */

export interface Member {
  id: string;
  parentId: string | null;
  run: Run;
  log: NewRunEvent[];
}
type Message = () => void;

const ENDS = ['RunSucceeded', 'RunFailed', 'RunCancelled', 'RunSkipped'];

export class Trees {
  readonly members = new Map<string, Member>();
  readonly messages: Message[] = [];
  readonly ledger: ModelLedger;
  private now = 1_000;

  constructor(
    readonly random: () => number,
    cap: number,
  ) {
    this.ledger = new ModelLedger(cap);
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.random() * from.length)];
  }

  /** A root is admitted with what the week leaves, or skipped. */
  start(id: string, tokens: number): void {
    const grantTokens = this.ledger.reserve(id, tokens, 500);
    if (grantTokens > 0) this.put(this.member(id, null), [queued(id, { rootRunId: id, grantTokens })]);
  }

  live(): Member[] {
    return [...this.members.values()].filter(({ run }) => isLive(run));
  }

  /** What a driver does next with a run: claims it, lets something come back that is under way, or decides. */
  drive(member: Member, lost = false): void {
    const { run } = member;
    if (!isLive(run) || isParked(run)) return;
    if (run.situation === 'queued' || run.woken || lost) return this.claimed(member, run);
    if (run.cancelRequested) this.cancelBelow(member, run);
    const granted = openChildren(run).find(({ child }) => !child.requested);
    if (granted) return this.asked(member, granted);
    this.decided(member, this.effectOf(run));
  }

  control(member: Member, control: Control): void {
    const { run } = member;
    try {
      this.put(member, decideControl(run, control));
    } catch {
      // Refused with a reason: nothing happened.
    }
    if (isLive(member.run) && member.run.cancelRequested) this.cancelBelow(member, member.run);
  }

  /** One of the messages under way arrives, and may arrive again. */
  deliver(): void {
    const [message] = this.messages.splice(Math.floor(this.random() * this.messages.length), 1);
    message?.();
    if (message && this.random() < 0.2) this.messages.push(message);
  }

  private member(id: string, parentId: string | null): Member {
    const member = this.members.get(id) ?? { id, parentId, run: NO_RUN, log: [] };
    this.members.set(id, member);
    return member;
  }

  private at(id: string): Circumstances {
    const base = circumstances(this.now);
    const childRunId = (callId: string, attempt: number) => `${id}.${callId}.${attempt}`;
    return { ...base, runId: id, tools: new Map([...base.tools, ...TOOLS]), childRunId };
  }

  private claimed(member: Member, run: LiveRun): void {
    const budget = needsBudget(run)
      ? { grantTokens: this.ledger.wake(member.id, run.grantTokens, member.log.length), weeklyTokens: null }
      : undefined;
    this.decided(member, claim(run, 'i', 'woken', budget));
  }

  private decided(member: Member, facts: NewRunEvent[]): void {
    const base = foldNew(member.run, facts, this.now + 1);
    this.put(member, [...facts, ...decideAll(base, this.at(member.id))]);
  }

  /** Appends, and sends what follows from it on its way. */
  private put(member: Member, events: readonly NewRunEvent[]): void {
    if (events.length === 0) return;
    this.now += 1;
    member.run = foldNew(member.run, events, this.now);
    member.log.push(...events);
    const { run, id } = member;
    if (run.situation === 'ended') return void this.messages.push(() => this.ended(member));
    if (!isLive(run) || member.parentId !== null) return;
    if (run.situation !== 'paused') return;
    const [used, place] = [run.usedTokens + run.childTokens, member.log.length];
    this.messages.push(() => this.ledger.park(id, used, place));
  }

  private ended({ id, parentId, log }: Member): void {
    const event = log.find(({ type }) => ENDS.includes(type));
    if (!event) return;
    if (parentId === null) return this.ledger.settle(id, spendOf(event));
    const parent = this.members.get(parentId);
    const end = { event: dated(event, this.now) as ChildEnd['event'], sequence: 1 };
    if (parent) this.put(parent, settleChild(parent.run, id, end, { now: this.now + 1, pauseTtlMs: 1e9 }));
  }

  private asked(member: Member, call: DelegatedCall): void {
    this.messages.push(() => this.birth(member, call));
    const { callId, child } = call;
    this.decided(member, [{ type: 'ChildRequested', data: { callId, childRunId: child.runId } }]);
  }

  /** Intake of a child: nothing that its parent's log does not bear out. */
  private birth(parent: Member, { callId, child }: DelegatedCall): void {
    const { run } = parent;
    const member = this.member(child.runId, parent.id);
    if (member.run.situation !== 'none' || !isLive(run)) return;
    if (!openChildren(run).some((call) => call.callId === callId && call.child.runId === child.runId)) return;
    if (run.cancelRequested) return this.fence(member);
    const { grantTokens, bounds, mode } = child;
    const { depth, rootRunId } = run.identity;
    const settings = { bounds, mode, approvalPolicy: 'park' };
    const identity = { parentRunId: parent.id, rootRunId, depth: depth + 1, trigger: 'delegated' };
    this.put(member, [queued(child.runId, { ...identity, settings, grantTokens })]);
  }

  private fence(member: Member): void {
    this.put(member, [
      { type: 'RunCancelled', data: { reason: 'parent', parentRunId: member.parentId ?? '' } },
    ]);
  }

  private cancelBelow(parent: Member, run: LiveRun): void {
    for (const { child } of openChildren(run)) {
      const member = this.member(child.runId, parent.id);
      if (member.run.situation === 'none') this.fence(member);
      else if (isLive(member.run) && !member.run.cancelRequested)
        this.control(member, { type: 'CancelRun', reason: 'parent' });
    }
  }

  private effectOf(run: LiveRun): NewRunEvent[] {
    if (run.phase.name === 'calling_model') return [turnOf(run, this.random)];
    if (run.phase.name !== 'calling_tools') return [];
    const call = this.pick(run.phase.calls.filter((one) => one.status === 'in_flight' && one.child === null));
    if (!call) return [];
    const data = { step: run.phase.step, callId: call.callId, tool: call.tool };
    return [{ type: 'ToolCallSucceeded', data: { ...data, observation: { text: 'ok' }, startedAt: 0 } }];
  }
}
