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
  const proxy = new TcpProxy(port);
  await proxy.listen();
  return proxy;
}

class TcpProxy implements FaultyProxy {
  lost = 0;
  url = '';
  private stalled = false;
  private readonly sockets = new Set<Socket>();
  private readonly losing = new Set<Direction>();
  private readonly server = createServer((client) => {
    const upstream = connect(this.port, '127.0.0.1');
    this.link(client, upstream, 'toServer');
    this.link(upstream, client, 'toClient');
  });

  constructor(private readonly port: number) {}

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `nats://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  lose(direction: Direction): void {
    this.losing.add(direction);
  }

  stall(): void {
    this.stalled = true;
    this.sockets.forEach((socket) => socket.pause());
  }

  heal(): void {
    this.losing.clear();
    this.stalled = false;
    this.sockets.forEach((socket) => socket.resume());
  }

  cut(): void {
    this.sockets.forEach((socket) => socket.destroy());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private link(from: Socket, to: Socket, direction: Direction): void {
    this.sockets.add(from);
    if (this.stalled) from.pause();
    from.on('data', (chunk: Buffer) => {
      if (this.losing.has(direction)) this.lost += chunk.length;
      else to.write(chunk);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      this.sockets.delete(from);
      to.destroy();
    });
  }
}
