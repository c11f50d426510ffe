/** One sleeper that may be woken before its time. */
export class Alarm {
  private wakeUp: (() => void) | null = null;

  /** Wakes the sleeper; nothing where nobody sleeps. */
  ring(): void {
    this.wakeUp?.();
  }

  /** Sleeps until `ring`, or for `ms` at most; null: until `ring`. */
  async sleep(ms: number | null): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.wakeUp = resolve;
      if (ms !== null) timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    this.wakeUp = null;
  }
}

/** Whether a promise is kept within `ms`. */
export async function doneWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  return Promise.race([promise.then(() => true), late]).finally(() => clearTimeout(timer));
}
