import type { EventLog, WorkQueues } from '@runyard/event-log';
import type { Database } from '@runyard/persistence';

/** Spec-only: where an executor meets the world. A tap sees every call that changes something outside of the process. */
export interface Tap {
  around<T>(what: string, call: () => Promise<T>): Promise<T>;
  /** Calls that only ask. */
  asking<T>(call: () => Promise<T>): Promise<T>;
}

export const OPEN_TAP: Tap = { around: (_what, call) => call(), asking: (call) => call() };

/** What a dead process would not live to see. */
export class Crashed extends Error {}

/** What a whole process has around everything: once it is dead, nothing goes out and nothing comes back. */
export class MortalTap implements Tap {
  dead = false;

  constructor(private readonly inner: Tap) {}

  around<T>(what: string, call: () => Promise<T>): Promise<T> {
    return this.alive(() => this.inner.around(what, call));
  }

  asking<T>(call: () => Promise<T>): Promise<T> {
    return this.alive(() => this.inner.asking(call));
  }

  private async alive<T>(call: () => Promise<T>): Promise<T> {
    if (this.dead) throw new Crashed();
    const result = await call();
    if (this.dead) throw new Crashed();
    return result;
  }
}

/**
 * Kills the executor at the n-th moment: each call that changes something has one right before and one right after. From
 * then on nothing goes out and nothing comes back.
 */
export class CrashTap implements Tap {
  readonly moments: string[] = [];
  crashed = false;
  onCrash: () => void = () => undefined;

  constructor(private readonly at: number | ((moment: string) => boolean)) {}

  async around<T>(what: string, call: () => Promise<T>): Promise<T> {
    this.pass(`before ${what}`);
    const result = await call();
    this.pass(`after ${what}`);
    return result;
  }

  async asking<T>(call: () => Promise<T>): Promise<T> {
    if (this.crashed) throw new Crashed();
    const result = await call();
    if (this.crashed) throw new Crashed();
    return result;
  }

  /** Where it was killed; undefined: it lived longer than that. */
  get last(): string | undefined {
    return this.crashed ? this.moments.at(-1) : undefined;
  }

  private pass(moment: string): void {
    if (this.crashed) throw new Crashed();
    this.moments.push(moment);
    const index = this.moments.length - 1;
    if (typeof this.at === 'number' ? index !== this.at : !this.at(moment)) return;
    this.crashed = true;
    this.onCrash();
    throw new Crashed(moment);
  }
}

/** Holds calls back or lets them fail, so that a spec decides what happens meanwhile. */
export class GateTap implements Tap {
  /** The error that a call meets; false: none. */
  failing: ((what: string) => Error | false) | undefined;
  private readonly gates: {
    wanted: (what: string) => boolean;
    when: 'before' | 'after';
    opened: Promise<void>;
    reached: () => void;
  }[] = [];

  /** The next call that is wanted waits, `before` or `after` it was made, until `open`. */
  hold(
    wanted: (what: string) => boolean,
    when: 'before' | 'after',
  ): { reached: Promise<void>; open: () => void } {
    let open = (): void => undefined;
    let reach = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const reached = new Promise<void>((resolve) => (reach = resolve));
    this.gates.push({ wanted, when, opened, reached: reach });
    return { reached, open };
  }

  async around<T>(what: string, call: () => Promise<T>): Promise<T> {
    const error = this.failing?.(what);
    if (error) throw error;
    const index = this.gates.findIndex((gate) => gate.wanted(what));
    const gate = index < 0 ? undefined : this.gates.splice(index, 1)[0];
    if (gate?.when === 'before') await this.wait(gate);
    const result = await call();
    if (gate?.when === 'after') await this.wait(gate);
    return result;
  }

  asking<T>(call: () => Promise<T>): Promise<T> {
    return call();
  }

  private wait(gate: { opened: Promise<void>; reached: () => void }): Promise<void> {
    gate.reached();
    return gate.opened;
  }
}

/** Does something at the n-th moment, while the executor waits for it. */
export class MomentTap implements Tap {
  readonly moments: string[] = [];

  constructor(
    private readonly at: number,
    private readonly act: () => Promise<void>,
  ) {}

  async around<T>(what: string, call: () => Promise<T>): Promise<T> {
    await this.pass(`before ${what}`);
    const result = await call();
    await this.pass(`after ${what}`);
    return result;
  }

  asking<T>(call: () => Promise<T>): Promise<T> {
    return call();
  }

  private async pass(moment: string): Promise<void> {
    this.moments.push(moment);
    if (this.moments.length - 1 === this.at) await this.act();
  }
}

export function tappedLog(log: EventLog, tap: Tap): EventLog {
  return {
    ...log,
    append: (commit) =>
      tap.around(`append ${commit.events.map((event) => event.type).join(' ')}`, () => log.append(commit)),
    read: (subject, after) => tap.asking(() => log.read(subject, after)),
    last: (subject) => tap.asking(() => log.last(subject)),
    lastSequence: (subject) => tap.asking(() => log.lastSequence(subject)),
  };
}

export const tappedQueues = (queues: WorkQueues, tap: Tap): WorkQueues => ({
  publish: (subject, body, headers) => tap.around('publish', () => queues.publish(subject, body, headers)),
  consume: (options) => queues.consume(options),
});

export const tappedDatabase = (db: Database, tap: Tap): Database => ({
  inOrg: (org, work) => tap.around('rows', () => db.inOrg(org, work)),
  acrossOrgs: (reason, work, options) => tap.asking(() => db.acrossOrgs(reason, work, options)),
  dedicated: (reason) => db.dedicated(reason),
  close: () => db.close(),
});
