import { createHash } from 'node:crypto';

/** What the reviewers do about a question. */
export type Part = 'approve' | 'quarrel' | 'edit' | 'deny' | 'expire';

/** Out of 100 questions. */
const SHARES: readonly [Part, number][] = [
  ['approve', 60],
  ['quarrel', 12],
  ['edit', 12],
  ['deny', 11],
  ['expire', 5],
];
const DENIAL = 'No. The customer has to call us about this.';

/** A decision as it is sent. */
export interface Said {
  verdict: 'approve' | 'deny' | 'done' | 'repeat';
  arguments?: Record<string, unknown>;
  message?: string;
}

/** What the reviewers do, by chance that a seed fixes: the same seed plays the same part about the same call of a dialog. */
export class Script {
  /** `seed` null: everything is approved. */
  constructor(private readonly seed: string | null) {}

  partFor(dialog: string, tool: string, args: string): Part {
    if (this.seed === null) return 'approve';
    const digest = createHash('sha256').update(JSON.stringify([this.seed, dialog, tool, args]));
    let place = digest.digest().readUInt32BE() % 100;
    for (const [part, share] of SHARES) {
      if (place < share) return part;
      place -= share;
    }
    return 'approve';
  }
}

/** What each of three people says, all at once; of a question that is left to expire, too late. */
export function saidBy(part: Part, args: string): Said[] {
  const approve: Said = { verdict: 'approve' };
  const deny: Said = { verdict: 'deny', message: DENIAL };
  const edited = (mark: string): Said => ({ verdict: 'approve', arguments: changed(args, mark) });
  switch (part) {
    case 'quarrel':
      return [approve, deny, edited('x')];
    case 'edit':
      return [edited('a'), edited('b'), edited('c')];
    case 'deny':
      return [deny, deny, deny];
    default:
      return [approve, approve, approve];
  }
}

/** Every writing tool takes a customer or a reservation by name; a reviewer who edits names another one. */
function changed(args: string, mark: string): Record<string, unknown> {
  const given = JSON.parse(args) as Record<string, unknown>;
  const name = 'reservation_id' in given ? 'reservation_id' : 'user_id';
  return { ...given, [name]: `${String(given[name])}-${mark}` };
}
