import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names the process that has the folder, while it lives. */
export const pidFileOf = (dir) => join(dir, 'nats.pid');

function configuration({ dir, port, syncAlways, authorization }) {
  return `# Written by deploy/local/nats.mjs at every start.
listen: "127.0.0.1:${port}"
pid_file: ${JSON.stringify(pidFileOf(dir))}
ports_file_dir: ${JSON.stringify(join(dir, 'ports'))}
log_file: ${JSON.stringify(join(dir, 'nats.log'))}
max_payload: 1MB
# A lost client is noticed within seconds (protocol P3.4).
ping_interval: "5s"
ping_max: 2
jetstream {
  store_dir: ${JSON.stringify(join(dir, 'data'))}
  # "always": an acknowledged event survives power loss. The server's own default flushes every two minutes.
  sync_interval: ${syncAlways ? 'always' : '"2m"'}
}
${authorization}`;
}

/**
 * Lays out what a local nats-server needs: its configuration, and empty places for its data and its port.
 * @param {{ dir: string, port: number, syncAlways: boolean, authorization: string }} settings
 */
export function prepareFolder(settings) {
  const { dir } = settings;
  mkdirSync(join(dir, 'data'), { recursive: true });
  rmSync(join(dir, 'ports'), { recursive: true, force: true });
  mkdirSync(join(dir, 'ports'));
  writeFileSync(join(dir, 'nats.conf'), configuration(settings));
}
