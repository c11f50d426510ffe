import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

type Direction = 'toServer' | 'toClient';

/** A TCP proxy in front of a server that can lose what passes, so that tests meet lost acknowledgements for real. */
export interface FaultyProxy extends AsyncDisposable {
  readonly url: string;
  /** Throws away what goes in a direction from now on; the connection looks healthy. */
  lose(direction: Direction): void;
  /** Holds back both directions; nothing is lost. */
  stall(): void;
  /** Ends losing and stalling. */
  heal(): void;
  /** Breaks every connection. */
  cut(): void;
  /** Bytes thrown away so far. */
  readonly lost: number;
}

/** Puts a proxy in front of `nats://127.0.0.1:<port>`. */
export async function faultyProxy(port: number): Promise<FaultyProxy> {
  const sockets = new Set<Socket>();
  const losing = new Set<Direction>();
  let lost = 0;
  let stalled = false;
  const link = (from: Socket, to: Socket, direction: Direction) => {
    sockets.add(from);
    if (stalled) from.pause();
    from.on('data', (chunk: Buffer) => {
      if (losing.has(direction)) lost += chunk.length;
      else to.write(chunk);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    link(client, upstream, 'toServer');
    link(upstream, client, 'toClient');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get lost() {
      return lost;
    },
    lose: (direction) => void losing.add(direction),
    stall() {
      stalled = true;
      sockets.forEach((socket) => socket.pause());
    },
    heal() {
      losing.clear();
      stalled = false;
      sockets.forEach((socket) => socket.resume());
    },
    cut: () => sockets.forEach((socket) => socket.destroy()),
    async [Symbol.asyncDispose]() {
      sockets.forEach((socket) => socket.destroy());
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
