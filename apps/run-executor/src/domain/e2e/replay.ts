import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { NewRunEvent } from '../decision';
import { decideAll, foldNew } from '../next';
import { isLive, NO_RUN } from '../run';
import type { Run } from '../run';
import { messagesOf } from '../transcript';
import { circumstances } from './simulation';

/** Spec-only: what runs left in their logs at some time. Never made anew: code must go on reading what is stored. */
export interface StoredCommit {
  time: number;
  /** How many of the events came from outside; the rest was decided from them. */
  facts: number;
  events: NewRunEvent[];
}

export const storedLogs = (): StoredCommit[][] =>
  JSON.parse(readFileSync(path.join(__dirname, 'stored-logs.json'), 'utf8'));

/** Everything that a run is, as text; the dialog by its messages, not by the list that runs share. */
export const stateText = (run: Run): string =>
  JSON.stringify(run.situation === 'none' ? run : { ...run, transcript: messagesOf(run.transcript) });

export const fold = (log: readonly StoredCommit[]): Run =>
  log.reduce<Run>((run, { events, time }) => foldNew(run, events, time), NO_RUN);

/** What is decided at each commit of a log from its facts alone. */
export function decisionsOf(log: readonly StoredCommit[]): NewRunEvent[][] {
  let run: Run = NO_RUN;
  return log.map(({ time, facts, events }) => {
    const decided = decideAll(foldNew(run, events.slice(0, facts), time), circumstances(time));
    run = foldNew(run, events, time);
    return decided;
  });
}

/** What a run that stands at the end of its log wants next, at the very time of its last event. */
export function wanted(log: readonly StoredCommit[]): NewRunEvent[] {
  const run = fold(log);
  return isLive(run) ? decideAll(run, circumstances(log.at(-1)?.time ?? 0)) : [];
}

/** One hash over states and decisions of all stored logs. */
export function hashOfAll(): string {
  const hash = createHash('sha256');
  for (const log of storedLogs()) hash.update(stateText(fold(log))).update(JSON.stringify(decisionsOf(log)));
  return hash.digest('hex');
}
