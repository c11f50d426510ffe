import { parseArgs } from 'node:util';
import { Script } from './script';

export const HELP = `npm run tau [-- options]

200 recorded dialogs through the whole product, compared with the source message by message. The last line counts.

  --live          on tools that keep what they are told, instead of recorded answers
  --approvals     the same, and every call that writes needs a decision: three people decide each at once, and approve, edit,
                  deny or let expire what a seed says. What was approved as it was asked must end as without them
  --approve-all   the same, and everything is approved
  --seed TEXT     another script for the reviewers (default: 1)
  --chaos         executors are killed meanwhile
  --part N        every Nth task only (default: 1, all)`;

/** What a replay is asked for. */
export interface Wished {
  live: boolean;
  script: Script | undefined;
  chaos: boolean;
  /** One task out of so many is played. */
  part: number;
}

/** Undefined: help was asked for. */
export function wishesOf(args: readonly string[]): Wished | undefined {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      live: flag,
      approvals: flag,
      'approve-all': flag,
      chaos: flag,
      help: flag,
      seed: { type: 'string', default: '1' },
      part: { type: 'string', default: '1' },
    },
  });
  if (values.help) return undefined;
  const part = Number(values.part);
  if (!Number.isInteger(part) || part < 1) throw new Error('--part must be a whole number from 1 on');
  const asked = values.approvals || values['approve-all'];
  const script = asked ? new Script(values['approve-all'] ? null : values.seed) : undefined;
  return { live: asked || values.live, script, chaos: values.chaos, part };
}
