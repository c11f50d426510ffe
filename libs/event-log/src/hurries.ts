/** Passes on that somebody is in a hurry. What is said while nobody listens is told to whoever listens next. */
export class Hurries {
  private readonly listeners = new Set<() => void>();
  private missed = false;

  tell(): void {
    this.missed = this.listeners.size === 0;
    this.listeners.forEach((listener) => listener());
  }

  /** Returns an unsubscriber. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    if (this.missed) this.tell();
    return () => void this.listeners.delete(listener);
  }
}
