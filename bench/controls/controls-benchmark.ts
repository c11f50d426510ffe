import { writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { ApiClient } from '../../deploy/local/api-client';
import { percentile } from '../runs/statistics';
import { HELP, parseOptions } from './options';
import { ASKS, HANGS, openSetting } from './setting';
import type { Setting } from './setting';

const LOOK_EVERY_MS = 5;
const WITHIN_MS = 60_000;
/** Before anything is measured: code is compiled as it gets hot, and connections open. */
const WARM_UP = 10;

/** What is measured, and the median that is promised of it. */
const KINDS = {
  'start to question': 1_000,
  'resolve to dispatch': 50,
  'cancel to quiet': 200,
  'a request that reads': undefined,
} as const;
type Kind = keyof typeof KINDS;
/** Milliseconds, one a time. */
type Measured = Record<Kind, number[]>;

/** `npm run bench -- controls`: how soon a run obeys people. */
export async function controlsBenchmark(args: string[]): Promise<number> {
  const options = parseOptions(args);
  if (!options) {
    console.log(HELP);
    return 0;
  }
  const classes: Record<string, Measured> = {};
  for (const durability of options.classes) {
    const setting = await openSetting(durability === 'B');
    try {
      if (!options.smoke) await measure(setting, WARM_UP);
      classes[durability] = await measure(setting, options.times);
    } finally {
      await setting.close();
    }
    console.log(report(durability, classes[durability], options.smoke));
  }
  if (options.smoke) console.log('Everything works. A smoke run says nothing about speed.');
  const facts = { date: new Date().toISOString(), arguments: args, node: process.version, classes };
  if (options.json) writeFileSync(options.json, `${JSON.stringify(facts, null, 2)}\n`);
  return 0;
}

async function measure(setting: Setting, times: number): Promise<Measured> {
  const measured: Measured = {
    'start to question': [],
    'resolve to dispatch': [],
    'cancel to quiet': [],
    'a request that reads': [],
  };
  for (let time = 0; time < times; time++) {
    const { asked, dispatched } = await askedAndResolved(setting);
    measured['start to question'].push(asked);
    measured['resolve to dispatch'].push(dispatched);
    measured['cancel to quiet'].push(await cancelToQuiet(setting));
    measured['a request that reads'].push(await read(setting));
  }
  return measured;
}

const startRun = async (api: ApiClient, agent: string): Promise<string> =>
  (await api.call<{ run_id: string }>('POST', '/v1/runs', { agent_id: agent, input: 'Go.' })).run_id;

/** From a run's start to its question's place in the list; from the request that approves to the call's arrival at the tool. */
async function askedAndResolved({ api, outside }: Setting): Promise<{ asked: number; dispatched: number }> {
  const started = performance.now();
  const runId = await startRun(api, ASKS);
  const question = await eventually(async () => {
    const path = `/v1/approvals?run_id=${runId}`;
    return (await api.call<{ data: { approval_id: string }[] }>('GET', path)).data[0];
  });
  const asked = performance.now() - started;
  // The question is listed before its run has parked; an answer to a run under way would be another case.
  await inState(api, runId, 'awaiting_approval');
  const paid = outside.next('paid');
  const begun = performance.now();
  await api.call('POST', `/v1/approvals/${question.approval_id}/decision`, { verdict: 'approve' });
  const dispatched = (await paid) - begun;
  await inState(api, runId, 'succeeded');
  return { asked, dispatched };
}

/** From the request that cancels to the end of the model call's connection. */
async function cancelToQuiet({ api, outside }: Setting): Promise<number> {
  const asked = outside.next('asked');
  const hungUp = outside.next('hung up');
  const runId = await startRun(api, HANGS);
  await asked;
  const begun = performance.now();
  await api.call('POST', `/v1/runs/${runId}/cancel`);
  const took = (await hungUp) - begun;
  await inState(api, runId, 'cancelled');
  return took;
}

async function read({ api }: Setting): Promise<number> {
  const begun = performance.now();
  await api.call('GET', '/v1/runs?limit=1');
  return performance.now() - begun;
}

const inState = (api: ApiClient, runId: string, state: string): Promise<unknown> =>
  eventually(async () => {
    const run = await api.call<{ state: string }>('GET', `/v1/runs/${runId}`);
    return run.state === state ? run : undefined;
  });

async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  const until = performance.now() + WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > until) throw new Error('What was waited for did not happen');
    await wait(LOOK_EVERY_MS);
  }
}

function report(durability: string, measured: Measured, smoke: boolean): string {
  const lines = Object.entries(KINDS).map(([kind, wanted]) => {
    const times = measured[kind as Kind];
    const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
    const verdict =
      wanted === undefined || smoke ? '' : `  wanted ${wanted} ms: ${p50 < wanted ? 'met' : 'MISSED'}`;
    return `  ${kind.padEnd(22)}p50 ${p50.toFixed(1).padStart(7)} ms  p99 ${p99.toFixed(1).padStart(7)} ms${verdict}`;
  });
  return `class ${durability}, ${measured['cancel to quiet'].length} of each, one at a time\n${lines.join('\n')}\n`;
}
