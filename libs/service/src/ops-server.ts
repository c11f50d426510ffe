import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Health } from './health';
import type { Metrics } from './metrics';

export interface OpsTarget {
  name: string;
  health: Health;
  metrics: Metrics;
}

/**
 * `/live`, `/ready` and `/metrics` over HTTP, for one service or for several that share a process. Liveness answers as
 * long as the event loop turns: a neighbour's outage must not make an orchestrator restart everything (case C83).
 */
export class OpsServer {
  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  /** Listens; port 0 takes a free one. Rejects when the port is taken. */
  static async listen(at: { host: string; port: number }, targets: readonly OpsTarget[]): Promise<OpsServer> {
    const server = createServer((request, response) => {
      void route(request.url ?? '/', targets, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(at.port, at.host, () => resolve());
    });
    return new OpsServer(server, (server.address() as AddressInfo).port);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

async function route(url: string, targets: readonly OpsTarget[], response: ServerResponse): Promise<void> {
  const path = url.split('?')[0];
  if (path === '/live') return json(response, 200, { live: true });
  if (path === '/ready') return ready(targets, response);
  if (path === '/metrics') {
    const pages = await Promise.all(targets.map((target) => target.metrics.registry.metrics()));
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(merge(pages));
    return;
  }
  json(response, 404, { detail: 'Only /live, /ready and /metrics are here' });
}

function ready(targets: readonly OpsTarget[], response: ServerResponse): void {
  const services = targets.map((target) => ({ service: target.name, ...target.health.report() }));
  const all = services.every((service) => service.ready);
  json(response, all ? 200 : 503, services.length === 1 ? services[0] : { ready: all, services });
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body));
}

/** Several registries as one page: a metric's HELP and TYPE may stand only once, with all its samples below. */
function merge(pages: string[]): string {
  if (pages.length === 1) return pages[0] ?? '';
  const blocks = new Map<string, { head: string[]; samples: string[] }>();
  for (const block of pages.flatMap((page) => page.split(/\n(?=# HELP )/))) {
    const lines = block.split('\n').filter((line) => line.trim());
    const head = lines.filter((line) => line.startsWith('#'));
    const name = head[0]?.split(' ')[2];
    if (!name) continue;
    const entry = blocks.get(name) ?? { head, samples: [] };
    entry.samples.push(...lines.filter((line) => !line.startsWith('#')));
    blocks.set(name, entry);
  }
  return (
    [...blocks.values()].map(({ head, samples }) => [...head, ...samples].join('\n')).join('\n\n') + '\n'
  );
}
