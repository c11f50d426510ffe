import { setTimeout as pause } from 'node:timers/promises';
import { Problem } from '@runyard/contracts';
import type { Credential } from '../credentials/credential';
import type { Viewer } from './viewer';

/** The event streams that are open in this process, whatever they show, and whose they are. */
export class OpenViewers {
  private readonly viewers = new Map<Viewer, string>();

  constructor(private readonly most: number) {}

  get size(): number {
    return this.viewers.size;
  }

  /** Throws `unavailable` where no more viewers are taken. */
  requireRoom(): void {
    if (this.viewers.size < this.most) return;
    throw new Problem('unavailable', 'Too many event streams are open here; try again shortly', {
      retryAfterSeconds: 2,
    });
  }

  /** The credential's end is the stream's end: the client comes back and is asked again. */
  add(viewer: Viewer, credential: Credential | undefined): void {
    this.viewers.set(viewer, credential?.caller.org ?? '');
    const expiry = credential ? dismissAt(viewer, credential.expiresAt) : undefined;
    viewer.once('close', () => {
      clearTimeout(expiry);
      this.viewers.delete(viewer);
    });
  }

  dismissOrg(org: string): void {
    for (const [viewer, of] of this.viewers) if (of === org) viewer.dismiss();
  }

  /** Ends all streams; resolves when their last bytes are on their way, or after a second. */
  async dismissAll(): Promise<void> {
    const closed = [...this.viewers.keys()].map(
      (viewer) => new Promise<void>((resolve) => viewer.once('close', resolve)),
    );
    for (const viewer of this.viewers.keys()) viewer.dismiss();
    await Promise.race([Promise.all(closed).then(() => pause(FLUSH_MS)), pause(LONGEST_FAREWELL_MS)]);
  }
}

/** A stream that has ended still has to pass the socket; a server that closes at once would cut it. */
const FLUSH_MS = 50;
/** A client that does not read must not hold up a shutdown. */
const LONGEST_FAREWELL_MS = 1_000;

/** Longest delay that a timer takes. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function dismissAt(viewer: Viewer, expiresAt: number | null): NodeJS.Timeout | undefined {
  if (expiresAt === null) return undefined;
  const timer = setTimeout(
    () => viewer.dismiss(),
    Math.min(LONGEST_TIMER_MS, Math.max(0, expiresAt - Date.now())),
  );
  timer.unref();
  return timer;
}
