/** Buckets of a map; each change copies one of them and the list of all. */
const BUCKETS = 256;

/**
 * An immutable map by run id. An owner's week may hold tens of thousands of runs and changes with every one of them, so a
 * change must not copy them all; nor may it alter a state that somebody else still holds.
 */
export class RunMap<Value> {
  private constructor(
    private readonly buckets: readonly (ReadonlyMap<string, Value> | undefined)[],
    readonly size: number,
  ) {}

  static empty<Value>(): RunMap<Value> {
    return new RunMap<Value>(
      Array.from({ length: BUCKETS }, () => undefined),
      0,
    );
  }

  get(runId: string): Value | undefined {
    return this.buckets[bucketOf(runId)]?.get(runId);
  }

  has(runId: string): boolean {
    return this.buckets[bucketOf(runId)]?.has(runId) === true;
  }

  with(runId: string, value: Value): RunMap<Value> {
    const at = bucketOf(runId);
    const bucket = new Map(this.buckets[at]);
    const size = this.size + (bucket.has(runId) ? 0 : 1);
    bucket.set(runId, value);
    return new RunMap(this.buckets.with(at, bucket), size);
  }

  without(runId: string): RunMap<Value> {
    const at = bucketOf(runId);
    if (!this.buckets[at]?.has(runId)) return this;
    const bucket = new Map(this.buckets[at]);
    bucket.delete(runId);
    return new RunMap(this.buckets.with(at, bucket), this.size - 1);
  }

  /** All entries, by run id: the same order whoever asks. */
  entries(): [string, Value][] {
    const all = this.buckets.flatMap((bucket) => (bucket ? [...bucket] : []));
    return all.toSorted(([one], [other]) => (one < other ? -1 : 1));
  }
}

function bucketOf(runId: string): number {
  let hash = 0;
  for (let i = 0; i < runId.length; i++) hash = (Math.imul(hash, 31) + runId.charCodeAt(i)) | 0;
  return (hash ^ (hash >>> 13)) & (BUCKETS - 1);
}
