import type { Runyard } from '@runyard/client';
import { RUN_EVENTS } from '@runyard/contracts';
import { parsePosition } from '@runyard/event-log';
import type { RunEventFrame } from './run-views';
import { CommandFailed } from './terminal';

/** A page of events; the API's own maximum is larger. */
const PAGE = 500;

/** Every event of a run so far, one line each. */
export async function exportRun(api: Runyard, run_id: string): Promise<string[]> {
  const lines: string[] = [];
  let after: string | undefined;
  for (;;) {
    const query = { limit: PAGE, after };
    const page = await api.call('GET /v1/runs/{run_id}/events', { path: { run_id }, query });
    lines.push(...page.data.map((event) => JSON.stringify(event)));
    if (page.next_cursor === null) return lines;
    after = page.next_cursor;
  }
}

/**
 * The events of an exported run. Throws CommandFailed, naming the line, on anything that is not one run from its first
 * event on, in the order of the log.
 */
export function readExport(text: string): RunEventFrame[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const events = lines.map((line, index) => parsed(line, index + 1));
  const [first] = events;
  if (!first) throw new CommandFailed('The file holds no events');
  if (first.type !== 'RunQueued' && first.type !== 'RunSkipped')
    throw new CommandFailed(
      `Line 1: a run begins with RunQueued or RunSkipped, this file with ${first.type}`,
    );
  for (const [index, event] of events.entries()) {
    const before = events[index - 1];
    if (event.run_id !== first.run_id)
      throw new CommandFailed(`Line ${index + 1}: an event of another run, ${event.run_id}`);
    if (before && place(event) <= place(before))
      throw new CommandFailed(`Line ${index + 1}: position ${event.position} comes after ${before.position}`);
  }
  return events;
}

function parsed(line: string, number: number): RunEventFrame {
  let event: Partial<RunEventFrame>;
  try {
    event = JSON.parse(line) as Partial<RunEventFrame>;
  } catch {
    throw new CommandFailed(`Line ${number} is not JSON`);
  }
  const { run_id, type, time, position } = event ?? {};
  if (typeof run_id !== 'string' || typeof type !== 'string' || typeof time !== 'string')
    throw new CommandFailed(`Line ${number} is no event of a run`);
  if (!parsePosition(position ?? '')) throw new CommandFailed(`Line ${number} has no position in the log`);
  if (!Object.hasOwn(RUN_EVENTS, type))
    throw new CommandFailed(`Line ${number}: this version does not know events of the type ${type}`);
  return event as RunEventFrame;
}

/** Positions in the order of the log: a commit holds far fewer events than this. */
const place = ({ position }: RunEventFrame): number => {
  const { sequence, index } = parsePosition(position) ?? { sequence: 0, index: 0 };
  return sequence * 100_000 + index;
};
