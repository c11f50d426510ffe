import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A tool that answers at once and a model that never does, over HTTP; what happens at them is told with its time. */
export class OutsideWorld {
  private readonly waiting = new Map<string, (at: number) => void>();

  private constructor(private readonly server: Server) {}

  static async listen(): Promise<OutsideWorld> {
    const server = createServer((request, response) => {
      if (request.url === '/pay') {
        outside.tell('paid');
        request.resume().once('end', () => response.setHeader('content-type', 'application/json').end('{}'));
        return;
      }
      request.resume().once('end', () => outside.tell('asked'));
      response.once('close', () => outside.tell('hung up'));
    });
    const outside = new OutsideWorld(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return outside;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** When it happens next, by this process' clock: a call arrives, the model is asked, its caller hangs up. */
  next(what: 'paid' | 'asked' | 'hung up'): Promise<number> {
    return new Promise((resolve) => this.waiting.set(what, resolve));
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private tell(what: string): void {
    const waiting = this.waiting.get(what);
    this.waiting.delete(what);
    waiting?.(performance.now());
  }
}
