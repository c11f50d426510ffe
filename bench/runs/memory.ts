import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ApiClient } from '../../deploy/local/api-client';
import { throwawayFolder } from '../../deploy/local/throwaway';
import { agentOf, COMMITS, ITERATIONS, seedCatalogue } from './catalogue';
import { inherited } from './environment.config';
import type { RunsOptions } from './options';
import { residentMb } from './processor-time';
import { Requester } from './requester';
import { Rows } from './rows';
import { slope } from './statistics';

const SAMPLES = 20;
const CONCURRENCY = 16;

export interface Memory {
  runs: number;
  /** Resident memory of the process that hosts every service, MB: at the start, and after each part of the runs. */
  startMb: number;
  samplesMb: number[];
  endMb: number;
  peakMb: number;
  /** MB a thousand runs over the second half, by least squares. */
  growthMbPerThousand: number;
}

interface Connection {
  api_url: string;
  org_id: string;
  user_id: string;
  keys: { admin: string };
  nats_url: string;
  database_url: string;
}

/** What `npm start` occupies: every service in one process, after its first run and after many. */
export async function measureMemory(
  { memoryRuns }: RunsOptions,
  say: (line: string) => void,
): Promise<Memory> {
  const folder = throwawayFolder('bench-memory');
  const product = spawn(
    process.execPath,
    [join(__dirname, '../../deploy/local/start.js'), '--port', '0', '--folder', folder],
    {
      env: { ...inherited(), RUNYARD_DURABILITY: 'process' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  process.once('exit', () => product.kill('SIGTERM'));
  try {
    await firstRun(product);
    const connection = JSON.parse(readFileSync(join(folder, 'connection.json'), 'utf8')) as Connection;
    const api = new ApiClient(connection.api_url, connection.keys.admin);
    await seedCatalogue(api, {
      folder: join(folder, 'recordings'),
      turns: [ITERATIONS],
      onceUrl: 'http://127.0.0.1/',
    });
    return await sample(product.pid ?? 0, connection, memoryRuns, say);
  } finally {
    const gone = new Promise((resolve) => product.once('exit', resolve));
    product.kill('SIGTERM');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits until the demonstration is through and the product says where to look. */
function firstRun(product: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    product.once('exit', (code) =>
      reject(new Error(`the product ended with ${code}: ${output.slice(-500)}`)),
    );
    product.stdout?.on('data', (chunk) => {
      output = (output + String(chunk)).slice(-5_000);
      if (output.includes('curl -H')) resolve();
    });
  });
}

async function sample(
  pid: number,
  connection: Connection,
  runs: number,
  say: (line: string) => void,
): Promise<Memory> {
  const { org_id: org, user_id: userId } = connection;
  const requester = await Requester.connect(connection.nats_url, { org, userId }, false);
  const rows = await Rows.connect(connection.database_url);
  const startMb = residentMb(pid);
  const samplesMb: number[] = [];
  for (let i = 1; i <= SAMPLES; i++) {
    await requester.runs(agentOf(ITERATIONS), COMMITS, Math.ceil(runs / SAMPLES), CONCURRENCY);
    await rows.reach(await requester.lastSequence());
    samplesMb.push(residentMb(pid));
    if (i % 5 === 0) say(`  ${i * Math.ceil(runs / SAMPLES)} runs: ${samplesMb.at(-1)?.toFixed(0)} MB`);
  }
  await requester.close();
  await rows.close();
  const growth = slope(samplesMb.slice(SAMPLES / 2)) / (Math.ceil(runs / SAMPLES) / 1_000);
  const endMb = samplesMb.at(-1) ?? Number.NaN;
  return { runs, startMb, samplesMb, endMb, peakMb: Math.max(...samplesMb), growthMbPerThousand: growth };
}
