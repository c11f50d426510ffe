import net from 'node:net';

/**
 * Outside of the range from which systems take ports for outgoing connections (Linux: 32768 and above): a port that is kept
 * for a while, or across restarts, would be taken from there by any of them.
 */
const FIRST = 15_000;
const LAST = 32_000;
const TRIES = 100;

const isFree = (port) =>
  new Promise((resolve) => {
    const probe = net.createServer().once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });

/**
 * A port of loopback that is free now, chosen at random so that those who choose at the same time do not meet.
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${FIRST} and ${LAST}`);
}
