import type { McpServer } from '@runyard/contracts';
import { digestOf } from '@runyard/event-log';
import { BeforeSending } from '../exchange.errors';
import { IDLE_MS, MAX_SESSIONS } from './limits';
import { linkTo, type LinkOptions } from './links';
import { McpSession } from './session';

/**
 * Open sessions, one per org and server definition: orgs never share a process or a connection. Sessions that ended or were
 * retired are replaced at the next use.
 */
export class McpSessions {
  private readonly current = new Map<string, Promise<McpSession>>();
  /** All that may still hold a process, retired ones too. */
  private readonly live = new Set<McpSession>();
  private readonly sweep: NodeJS.Timeout;
  private closed = false;

  constructor(private readonly options: LinkOptions) {
    this.sweep = setInterval(() => this.closeIdle(performance.now() - IDLE_MS), IDLE_MS / 10).unref();
  }

  /** The session of a server; connects where there is none. Throws like an exchange. */
  async get(org: string, server: McpServer): Promise<McpSession> {
    const key = digestOf([org, server]);
    for (;;) {
      const begun = this.current.get(key);
      // Whoever waits for a connection that fails shares its failure, instead of trying one after the other.
      const session = await begun;
      if (session?.usable) return session;
      if (this.current.get(key) === begun) return this.begin(key, org, server);
    }
  }

  private begin(key: string, org: string, server: McpServer): Promise<McpSession> {
    const opening = this.open(org, server);
    this.current.set(key, opening);
    const forget = () => void (this.current.get(key) === opening && this.current.delete(key));
    opening.then((session) => session.whenEnded.then(forget), forget);
    return opening;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.sweep);
    await Promise.allSettled(this.current.values());
    await Promise.all([...this.live].map((session) => session.end()));
  }

  private async open(org: string, server: McpServer): Promise<McpSession> {
    this.makeRoom();
    const session = await McpSession.open(
      await linkTo(server, org, this.options),
      server.name,
      this.options.log,
    );
    this.live.add(session);
    void session.whenEnded.then(() => this.live.delete(session));
    if (this.closed) await session.end();
    return session;
  }

  private makeRoom(): void {
    if (this.closed) throw new BeforeSending('this process is shutting down');
    if (this.live.size < MAX_SESSIONS) return;
    const idle = [...this.live].filter((session) => !session.busy);
    const oldest = idle.sort((a, b) => a.lastUsed - b.lastUsed)[0];
    if (!oldest) throw new BeforeSending(`${MAX_SESSIONS} MCP servers are at work already`);
    oldest.retire();
  }

  private closeIdle(before: number): void {
    for (const session of this.live) if (!session.busy && session.lastUsed < before) session.retire();
  }
}
