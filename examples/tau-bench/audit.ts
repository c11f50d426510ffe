import { setTimeout as wait } from 'node:timers/promises';
import { WRITES } from '../airline/tools';
import type { Api } from './api';
import type { LiveTools } from './live';
import { isFair, isUntouched } from './question';
import type { ApprovalRow, Question } from './question';

const STATES = ['pending', 'approved', 'denied', 'answered', 'expired', 'withdrawn'] as const;
const ENDS: Readonly<Record<string, string>> = { approve: 'approved', deny: 'denied' };
/** Rows lag behind the log; so long they are waited for. */
const ROWS_WITHIN_MS = 30_000;

export interface AuditReport {
  good: boolean;
  text: string;
  faults: string[];
  /** Dialogs in which something was not approved as it was asked: they go another way than the recorded ones. */
  changed: ReadonlySet<string>;
}

interface Step {
  kind: string;
  call_id: string | null;
  outcome: string | null;
  decided_by: string | null;
}

/** Whether every question had one winner, the record says so, and every write went out at most once and under its own grant. */
export async function audit(api: Api, asked: Question[], live: LiveTools): Promise<AuditReport> {
  const rows = await settledRows(api, asked.length);
  const unfair = asked
    .filter((question) => !isFair(question))
    .map(({ row, told }) => `${row.approval_id}: told ${told.join()}`);
  const recorded = asked.flatMap(
    (question) => faultOfRow(question, rows.get(question.row.approval_id)) ?? [],
  );
  const missing =
    rows.size === asked.length ? [] : [`${rows.size} questions are recorded, ${asked.length} were seen`];
  const steps = (await Promise.all(byRun(asked).map((questions) => faultsOfSteps(api, questions)))).flat();
  const writes = faultsOfWrites(asked, rows, live);
  const faults = [...unfair, ...missing, ...recorded, ...steps, ...writes.faults];
  const changed = new Set(asked.filter((question) => !isUntouched(question)).map(({ dialog }) => dialog));
  const text = `approvals: ${countsOf(asked)}; writes sent ${writes.sent} carried out ${writes.carriedOut}; dialogs changed ${changed.size}; faults ${faults.length}`;
  return { good: faults.length === 0, text, faults, changed };
}

function countsOf(asked: readonly Question[]): string {
  const count = (holds: (question: Question) => boolean) => asked.filter(holds).length;
  const won = (verdict: string, edited: boolean) =>
    count(({ won: w }) => w?.said.verdict === verdict && (w.said.arguments !== undefined) === edited);
  const ambiguous = count(({ row }) => row.kind === 'ambiguous');
  return (
    `asked ${asked.length} approved ${won('approve', false)} edited ${won('approve', true)} denied ${won('deny', false)} ` +
    `undecided ${count(({ won: w }) => w === undefined)} ambiguous ${ambiguous} quarrels ${count(({ part }) => part === 'quarrel')}`
  );
}

async function settledRows(api: Api, expected: number): Promise<Map<string, ApprovalRow>> {
  const until = Date.now() + ROWS_WITHIN_MS;
  for (;;) {
    const rows = (await Promise.all(STATES.map((state) => listed(api, state)))).flat();
    const settled = rows.length === expected && rows.every(({ state }) => state !== 'pending');
    if (settled || Date.now() > until) return new Map(rows.map((row) => [row.approval_id, row]));
    await wait(200);
  }
}

async function listed(api: Api, state: string): Promise<ApprovalRow[]> {
  const rows: ApprovalRow[] = [];
  let next: string | null = '';
  while (next !== null) {
    const path = `/v1/approvals?limit=200&state=${state}${next === '' ? '' : `&cursor=${encodeURIComponent(next)}`}`;
    const page: { data: ApprovalRow[]; next_cursor: string | null } = await api.patiently(() =>
      api.call('GET', path),
    );
    rows.push(...page.data);
    next = page.next_cursor;
  }
  return rows;
}

/** What the record of a question says that is not so. */
function faultOfRow({ row, won }: Question, recorded: ApprovalRow | undefined): string | undefined {
  const wrong = (why: string) => `${row.approval_id}: ${why}, recorded ${JSON.stringify(recorded)}`;
  if (!recorded) return wrong('no record');
  const { state, decided_by, verdict, edited_arguments } = recorded;
  if (!won) {
    const ended = state === 'withdrawn' || (state === 'expired' && decided_by === 'system:approvals');
    return ended ? undefined : wrong('nobody decided');
  }
  if (decided_by !== won.by || verdict !== won.said.verdict)
    return wrong(`${won.by} said ${won.said.verdict}`);
  if (state !== (ENDS[won.said.verdict] ?? 'answered')) return wrong(`${won.said.verdict} is another state`);
  return same(edited_arguments?.text, won.said.arguments) ? undefined : wrong('other arguments');
}

/** Arguments by value: the writer chooses how a number is written. */
const same = (text: string | undefined, value: object | undefined): boolean =>
  (text === undefined ? undefined : JSON.stringify(JSON.parse(text))) ===
  (value === undefined ? undefined : JSON.stringify(value));

const byRun = (asked: readonly Question[]): Question[][] => [
  ...grouped(asked, ({ row }) => row.run_id).values(),
];

function grouped(
  questions: readonly Question[],
  by: (question: Question) => string,
): Map<string, Question[]> {
  const groups = new Map<string, Question[]>();
  for (const question of questions) groups.set(by(question), [...(groups.get(by(question)) ?? []), question]);
  return groups;
}

/** Whether a run's steps name who decided about each call, and what came of it. */
async function faultsOfSteps(api: Api, questions: readonly Question[]): Promise<string[]> {
  const [first] = questions;
  if (!first) return [];
  const path = `/v1/runs/${first.row.run_id}/steps?limit=200`;
  const { data } = await api.patiently(() => api.call<{ data: Step[] }>('GET', path));
  return questions.flatMap(({ row, won }) => {
    if (row.kind === 'ambiguous' || !won) return [];
    const later = questions.some((other) => other.row.call_id === row.call_id && other.row !== row);
    const step = data.find(({ kind, call_id }) => kind === 'tool_call' && call_id === row.call_id);
    const right =
      step?.decided_by === won.by && (step.outcome === 'denied') === (won.said.verdict === 'deny');
    return right || later
      ? []
      : [`${row.run_id} ${row.call_id}: ${won.by} decided, its step says ${JSON.stringify(step)}`];
  });
}

/** Whether what arrived at the tools was granted: this call, these arguments, before it went out, and as often. */
function faultsOfWrites(asked: readonly Question[], rows: ReadonlyMap<string, ApprovalRow>, live: LiveTools) {
  const grants = grouped(
    asked.filter(({ won }) => won?.said.verdict === 'approve' || won?.said.verdict === 'repeat'),
    ({ row }) => `${row.run_id}:${row.call_id}`,
  );
  const carriedOut = live.carriedOut().filter(({ tool }) => WRITES.test(tool));
  const faults = carriedOut.flatMap(({ key, tool, arguments: given, at }) => {
    const own = (grants.get(key) ?? []).find(
      ({ row, won }) =>
        row.tool === tool &&
        JSON.stringify(given) ===
          JSON.stringify(won?.said.arguments ?? JSON.parse(row.arguments.text ?? 'null')) &&
        Date.parse(rows.get(row.approval_id)?.decided_at ?? '') <= at,
    );
    return own ? [] : [`${key}: ${tool} ${JSON.stringify(given)} without its own grant`];
  });
  let sent = 0;
  for (const [key, { tool, times }] of live.arrived()) {
    if (!WRITES.test(tool)) continue;
    sent += times;
    const granted = grants.get(key)?.length ?? 0;
    if (times > granted) faults.push(`${key}: ${tool} arrived ${times} times, granted ${granted}`);
  }
  return { faults, sent, carriedOut: carriedOut.length };
}
