import { RUN_EVENTS, parseSubject } from '@runyard/contracts';
import type { RunEvent } from '@runyard/contracts';
import { archiveSource, eventsOf, mayHold } from '@runyard/persistence';
import type { ProjectedCommit } from '@runyard/persistence';
import type { OwnerDatabase } from './owner-database.adapter';
import type { Disagreement } from './audit-queries';
import { deletedRuns, ledgerByModel, settledRoots } from './audit-queries';

const CONCERNING = ['RunQueued', 'ModelTurnCompleted', 'ModelCallFailed'];

/** What the log of runs says that trees have spent, model by model. */
interface LogUsage {
  /** Root of each run whose birth the archive has, by org and run. */
  roots: Map<string, string>;
  /** Tokens by org, run and model. */
  tokens: Map<string, number>;
}

/**
 * Adds the attempts of every run up from the archive, which outlives the stream, and compares them with the ledger's lines
 * by tree and model. Trees of which a part was erased from the log are left out: only their tombstones know the tokens.
 * A run that is missing from the archive without a tombstone is a difference: it is late there, or lost.
 */
export async function modelDisagreements(db: OwnerDatabase, signal: AbortSignal): Promise<Disagreement[]> {
  const { roots, tokens } = await usageOf(db, signal);
  const { ledger, settled, deleted } = await db.read(async (tx) => ({
    ledger: await ledgerByModel(tx),
    settled: await settledRoots(tx),
    deleted: await deletedRuns(tx),
  }));
  const erased = new Set(
    deleted
      .filter(({ org, run }) => !roots.has(JSON.stringify([org, run])))
      .map(({ org, root }) => JSON.stringify([org, root])),
  );
  const spent = new Map<string, number>();
  for (const [key, used] of tokens) {
    const [org, run, model] = JSON.parse(key) as [string, string, string];
    const root = roots.get(JSON.stringify([org, run]));
    if (root === undefined || !settled.has(JSON.stringify([org, root]))) continue;
    const tree = JSON.stringify([org, root, model]);
    spent.set(tree, (spent.get(tree) ?? 0) + used);
  }
  return [...new Set([...spent.keys(), ...ledger.keys()])].toSorted().flatMap((tree): Disagreement[] => {
    const [org, root, model] = JSON.parse(tree) as [string, string, string];
    if (erased.has(JSON.stringify([org, root]))) return [];
    const found = { ledger: ledger.get(tree) ?? 0, runs: spent.get(tree) ?? 0 };
    return found.ledger === found.runs ? [] : [{ kind: 'model', org, what: `${root} ${model}`, ...found }];
  });
}

async function usageOf(db: OwnerDatabase, signal: AbortSignal): Promise<LogUsage> {
  const source = archiveSource(db, 'RUNS');
  const { lastSequence } = await source.state();
  const usage: LogUsage = { roots: new Map(), tokens: new Map() };
  if (lastSequence === 0) return usage;
  for await (const commit of source.read(0, signal, lastSequence)) {
    add(usage, commit);
    if (commit.sequence >= lastSequence) break;
  }
  return usage;
}

function add(usage: LogUsage, commit: ProjectedCommit): void {
  const { context, org = '', id = '' } = parseSubject(commit.subject) ?? {};
  if (context !== 'runs' || !mayHold(commit, CONCERNING)) return;
  for (const { event } of eventsOf<RunEvent>(commit, RUN_EVENTS)) {
    if (event.type === 'RunQueued') usage.roots.set(JSON.stringify([org, id]), event.data.rootRunId);
    if (event.type !== 'ModelTurnCompleted' && event.type !== 'ModelCallFailed') continue;
    const { modelId, usage: used } = event.data;
    const key = JSON.stringify([org, id, modelId]);
    usage.tokens.set(key, (usage.tokens.get(key) ?? 0) + used.input + used.output);
  }
}
