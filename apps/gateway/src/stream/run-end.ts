import { subjectOf } from '@runyard/contracts';
import type { EventLog } from '@runyard/event-log';
import { commitEndsRun } from './frame';
import type { RunTail } from './run-tail.process';

/** Waiting for runs to end, for clients that prefer to wait. */
export class RunEnds {
  constructor(
    private readonly log: Pick<EventLog, 'read'>,
    private readonly tail: RunTail,
  ) {}

  /**
   * Resolves with the position of the commit that ends the run, or undefined when `milliseconds` pass first or the tail
   * breaks. Joins the tail before it reads, like a viewer, so that an end in between is not missed.
   */
  async wait(org: string, runId: string, milliseconds: number): Promise<string | undefined> {
    const subject = subjectOf('runs', org, runId);
    let settle: (position: string | undefined) => void = () => undefined;
    const end = new Promise<string | undefined>((resolve) => (settle = resolve));
    const timer = setTimeout(() => settle(undefined), milliseconds);
    let unsubscribe: () => void = () => undefined;
    try {
      unsubscribe = await this.tail.subscribe(subject, {
        onCommit: (commit) => {
          if (commit.ends) settle(`${commit.sequence}.0`);
        },
        onLost: () => settle(undefined),
      });
      const logged = (await this.log.read(subject)).find(commitEndsRun);
      return logged ? `${logged.sequence}.0` : await end;
    } finally {
      clearTimeout(timer);
      unsubscribe();
    }
  }
}
