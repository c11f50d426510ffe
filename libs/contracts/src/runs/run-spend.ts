/** Tokens of one model in a run: all its attempts, also those that failed, were cancelled or were lost. */
export interface SpendLine {
  /** Row of the allowed list that was asked; its dated prices turn tokens into money. */
  modelId: string;
  /** Name of the model that answered; for a call without answer, the one that was called. */
  model: string;
  provider: string;
  /** Tier that the run asked for. */
  tier: string;
  calls: number;
  input: number;
  output: number;
  /** Part of input. */
  cached: number;
  /** Part of input + output that no provider reported: an upper estimate. */
  estimated: number;
}

/** What a run spent until its end; the budget ledger settles `own + children` of a root (P6.4). */
export interface RunSpend {
  lines: SpendLine[];
  /** Tokens of the run's own model calls: input + output of all lines. */
  own: number;
  /** Tokens of its children and all below them. */
  children: number;
}

/**
 * What every end says. `spend` is missing in runs that ended before there was a ledger, and in those that were fenced and
 * never began; `parentRunId` where nobody waits for the end.
 */
export interface RunEnd {
  spend?: RunSpend;
  /** The run that delegated to this one and has to settle it. */
  parentRunId?: string;
}

/** What a run that had waited for people may spend from now on: less than before where the week leaves no more (P5.6). */
export interface WakingBudget {
  grantTokens: number;
  /** What the owner's week has left, this grant included; null where no cap applies. */
  weeklyTokens: number | null;
}
