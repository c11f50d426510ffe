import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CatalogueTool } from '@runyard/contracts';
import { eventually } from '@runyard/testing';
import { ODD_SERVER } from '../tools/mcp/odd-server';
import { createToolRunner } from '../tools/tool-runner';
import { ofType } from './e2e/invariants';
import { calls, ok } from './e2e/script';
import { TestExecutor } from './e2e/test-executor';
import { CALLER, World } from './e2e/world';

jest.setTimeout(300_000);

const folder = mkdtempSync(join(tmpdir(), 'runyard-trees-'));
const journal = join(folder, 'journal');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FAMILY: CatalogueTool = {
  name: 'family',
  description: 'Starts a program that starts another one, and never answers',
  inputSchema: { type: 'object' },
  effect: 'write',
  idempotent: false,
  timeoutMs: 120_000,
  endsRun: false,
  agentsAllowed: true,
  source: {
    kind: 'mcp',
    tool: 'family',
    server: { name: 'odd', transport: 'stdio', command: 'node', args: ['-e', ODD_SERVER, journal] },
  },
};

const alive = (pid: number): boolean => {
  try {
    // A zombie whose parent is gone is dead, too.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

/** The server, its child and its grandchild, once all are up. */
const family = (): Promise<number[]> =>
  eventually(() => {
    const text = existsSync(journal) ? readFileSync(journal, 'utf8') : '';
    const pids = /^server (\d+)$[^]*^family (\d+) (\d+)$/m.exec(text)?.slice(1).map(Number);
    return pids?.every(alive) && pids;
  });

it('C14 a cancel ends the whole process tree of a tool call, grandchildren that ignore SIGTERM too (Kilo-Org/kilocode#11758)', async () => {
  await using world = await World.create({ tools: [FAMILY] });
  const note = () => undefined;
  const tools = createToolRunner({
    secrets: () => undefined,
    recordings: () => Promise.reject(new Error('none')),
    http: { allowedHosts: [], allowPrivate: false },
    mcp: { stdioCommands: [['node', '-e', ODD_SERVER, '*']] },
    now: Date.now,
    log: { info: note, warn: note },
  });
  const executor = await TestExecutor.start(
    world,
    { model: () => calls(['family', '{}']), tool: () => ok('never') },
    { tools },
  );
  const runId = await world.start('tree');
  const pids = await family();
  await executor.controls.cancel(CALLER, { run_id: runId });
  await eventually(() => pids.every((pid) => !alive(pid)), { withinMs: 30_000 });
  expect(await world.ended(runId)).toMatchObject({ type: 'RunCancelled', data: { reason: 'user' } });
  const events = await world.events(runId);
  expect(ofType(events, 'ToolCallStarted')).toHaveLength(1);
  // Nobody knows what they had done until then, and the run does not pretend to.
  expect(ofType(events, 'ToolCallSucceeded')).toEqual([]);
  await executor.stop();
  await tools.close();
});
