import type { SpawnOptions } from 'node:child_process';

export declare function watchdog(
  pid: number,
  signal: 'INT' | 'TERM',
  account?: Pick<SpawnOptions, 'uid' | 'gid'>,
): () => void;
export declare function predecessorGone(of: {
  folder: string;
  pidFile: string;
  program: string;
}): Promise<void>;
