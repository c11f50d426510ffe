import type { Run, Step } from '@runyard/client';
import { LiveRun } from '../../../deploy/local/live-run';
import { table } from './terminal';

/** One event of a run, as the API gives it. */
export interface RunEventFrame {
  run_id: string;
  type: string;
  time: string;
  position: string;
  actor: string;
  data: Record<string, unknown>;
}

/** What the command line shows of a run's row. */
export interface RunRow extends Run {
  error?: { code: string; text: string } | null;
  model?: string;
  total_tokens?: number;
}

export interface StepRow extends Step {
  tool?: string | null;
  model?: string | null;
  outcome: string;
  content?: string | null;
  arguments?: string | null;
}

/** A run whole, with the runs that it delegated to. */
export interface Inspection {
  run: RunRow;
  steps: StepRow[];
  tree: (RunRow & { parent_run_id: string | null; depth: number })[];
  totals: { runs: number; total_tokens: number };
}

const WIDTH = 100;
const short = (text: string | null | undefined): string => {
  const line = (text ?? '').replaceAll(/\s+/g, ' ');
  return line.length > WIDTH ? `${line.slice(0, WIDTH - 1)}…` : line;
};
const minute = (time: string): string => time.slice(0, 16).replace('T', ' ');

export function listing(runs: readonly RunRow[]): string[] {
  const head = ['run', 'agent', 'state', 'reason', 'trigger', 'steps', 'began (UTC)'];
  if (runs.length === 0) return [];
  return table(
    head,
    runs.map((run) => [
      run.run_id,
      `${run.agent_id} v${run.agent_version}`,
      run.state,
      run.reason ?? '',
      run.trigger,
      run.steps,
      minute(run.started_at ?? run.created_at),
    ]),
  );
}

/** A run with its steps, for people. */
export function overview({ run, steps, tree, totals }: Inspection): string[] {
  const end = run.termination ? ` (${[run.termination, run.reason].filter(Boolean).join(' / ')})` : '';
  const facts: [string, string][] = [
    ['run', run.run_id],
    ['agent', `${run.agent_id} v${run.agent_version}, ${run.trigger}`],
    ['state', `${run.state}${end}`],
    ['times', [run.created_at, run.started_at, run.ended_at].filter(Boolean).join(' → ')],
    [
      'counts',
      `${run.model_calls} model calls, ${run.tool_calls} tool calls, ${run.total_tokens ?? 0} tokens`,
    ],
    ['position', run.position],
  ];
  const lines = facts.map(([name, value]) => `${name.padEnd(10)}${value}`);
  for (const step of steps) {
    const what =
      step.kind === 'model_turn' ? (step.model ?? 'model') : `${step.tool ?? ''}(${short(step.arguments)})`;
    lines.push(`${String(step.seq).padStart(4)}  ${step.kind} ${step.outcome}  ${what}`);
    if (step.content) lines.push(`      ${short(step.content)}`);
  }
  lines.push(...treeLines(tree, totals));
  if (run.output !== null) lines.push('', run.output);
  if (run.error) lines.push('', `${run.error.code}: ${run.error.text}`);
  return lines;
}

/** The runs below, each under its depth, and what the tree comes to. */
function treeLines(tree: Inspection['tree'], totals: Inspection['totals']): string[] {
  if (tree.length === 0) return [];
  const branches = tree.map(
    (run) =>
      `${'  '.repeat(run.depth)}└ ${run.run_id}  ${run.agent_id}  ${[run.state, run.reason].filter(Boolean).join(' / ')}  ${run.total_tokens ?? 0} tokens`,
  );
  return ['', ...branches, `tree      ${totals.runs} runs, ${totals.total_tokens} tokens`];
}

/** Events of a run as lines for people; events that nobody cares about give none. */
export class EventLines {
  private lines: string[] = [];
  private readonly live = new LiveRun((line) => void this.lines.push(line.trimStart()));

  of(event: RunEventFrame): string[] {
    this.lines = [];
    this.live.show(event);
    return this.lines.map((line) => `${event.time.slice(11, 23)}  ${line}`);
  }
}
