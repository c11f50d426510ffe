/**
 * Lets those who ask for the same thing at the same time share one answer, without anybody getting an answer to a question
 * that was asked before his own: who finds a read under way waits for its end and shares the next one with all who came
 * meanwhile. A busy aggregate then costs one read a round trip, however many want to know.
 */
export class JointReads {
  private readonly running = new Map<string, Promise<unknown>>();
  private readonly next = new Map<string, Promise<unknown>>();

  /** `ask` must always be the same question for the same key. */
  read<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const joined = this.next.get(key);
    // The key stands for the question, and with it for the type of its answer.
    if (joined) return joined as Promise<T>;
    const running = this.running.get(key);
    if (!running) return this.start(key, ask);
    const next = running.then(noop, noop).then(() => {
      this.next.delete(key);
      return this.start(key, ask);
    });
    this.next.set(key, next);
    return next;
  }

  private start<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const answer = ask();
    this.running.set(key, answer);
    const end = (): void => {
      if (this.running.get(key) === answer) this.running.delete(key);
    };
    answer.then(end, end);
    return answer;
  }
}

const noop = (): void => undefined;
