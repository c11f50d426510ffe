import type { CallDecision, Json, Mode, ToolDefinition } from '@runyard/contracts';
import type { Circumstances } from './decision';
import type { LiveRun } from './run';

/** What is decided about a call before it goes out, and by whom. */
export interface Ruling {
  decision: 'allow' | 'deny' | 'ask';
  by: CallDecision;
  /** The rule or mode behind it, for people and the model. */
  why?: string;
}

/** What mode and tool say where no rule speaks. */
export function decideEffect(mode: Mode, tool: ToolDefinition): Ruling['decision'] {
  if (tool.effect === 'read' || mode === 'auto') return 'allow';
  return mode === 'plan' ? 'deny' : 'ask';
}

export function rulingByMode(mode: Mode, tool: ToolDefinition): Ruling {
  const decidedBy = tool.effect === 'read' ? 'system:reads' : `mode:${mode}`;
  return { decision: decideEffect(mode, tool), by: { decidedBy, ruleId: null, groupKey: null } };
}

/** What rules, mode and what was approved for the whole run say of a call, as of now. */
export function rulingOn(
  run: LiveRun,
  tool: ToolDefinition,
  args: Json | undefined,
  at: Circumstances,
): Ruling {
  if (!at.approvals) return rulingByMode(run.mode, tool);
  const ruling = at.approvals.rule(run, tool, args, at.now);
  if (ruling.decision !== 'ask' || ruling.by.groupKey === null) return ruling;
  const group = run.groups.find(({ groupKey }) => groupKey === ruling.by.groupKey);
  return group ? { decision: 'allow', by: group.decision } : ruling;
}
