import type { Api } from './api';
import { Refused } from './api';
import type { Entry } from './compare';
import { firstDifference, messagesFrom } from './compare';
import { reproducible } from './source';
import type { Dialog, SourceMessage } from './source';

export interface DialogResult {
  dialog: Dialog;
  runs: number;
  turns: number;
  calls: number;
  /** What differs from the source; undefined: nothing. */
  difference: string | undefined;
  /** The product did not do what it was asked to. */
  refused: boolean;
}

/** Who plays, against which agent, and who hears of each run that has ended. */
export interface Player {
  api: Api;
  agentId: string;
  systemPrompt: string;
  onRun: () => void;
}

/** Plays the person's part of a dialog, run after run, then compares the product's own record with the source. */
export async function replay(
  { api, agentId, systemPrompt, onRun }: Player,
  dialog: Dialog,
): Promise<DialogResult> {
  const trajectories: Entry[][] = [];
  let refusal: string | undefined;
  try {
    for (const [index, { input, turns }] of dialog.runs.entries()) {
      const body = { agent_id: agentId, conversation_id: dialog.name, input, bounds: { max_steps: turns } };
      const run = await api.run(body, `${dialog.name}-${index}`);
      const path = `/v1/runs/${run.run_id}/trajectory?at_least=${run.position}`;
      const { entries } = await api.patiently(() => api.call<{ entries: Entry[] }>('GET', path));
      trajectories.push(entries);
      onRun();
    }
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    refusal = `the product refused: ${error.message}`;
  }
  const system: SourceMessage = { role: 'system', content: systemPrompt };
  const recorded = [system, ...messagesFrom(trajectories)];
  return {
    dialog,
    runs: trajectories.length,
    turns: recorded.filter((message) => message.role === 'assistant').length,
    calls: recorded.reduce((sum, message) => sum + (message.tool_calls?.length ?? 0), 0),
    refused: refusal !== undefined,
    difference: refusal ?? firstDifference(recorded, reproducible(dialog.source)),
  };
}

/** Works through a list with so many at once. */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const left = items.map((item, index) => ({ item, index }));
  const worker = async () => {
    for (let next = left.shift(); next; next = left.shift()) results[next.index] = await work(next.item);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
