/** Branches of a node: a change copies one node a level, and one leaf. */
const BITS = 4;
const BRANCHES = 1 << BITS;
/** 4,096 leaves: of tens of thousands of runs each holds a few. */
const LEVELS = 3;

type Leaf<Value> = ReadonlyMap<string, Value>;
type Node<Value> = readonly (Node<Value> | Leaf<Value> | undefined)[];

const NOTHING: Node<never> = Array.from({ length: BRANCHES }, () => undefined);

/**
 * An immutable map by run id. An owner's week may hold tens of thousands of runs and changes with every one of them, so a
 * change must not copy them all; nor may it alter a state that somebody else still holds.
 */
export class RunMap<Value> {
  private constructor(
    private readonly root: Node<Value>,
    readonly size: number,
  ) {}

  static empty<Value>(): RunMap<Value> {
    return new RunMap<Value>(NOTHING, 0);
  }

  get(runId: string): Value | undefined {
    return this.leaf(hashOf(runId))?.get(runId);
  }

  has(runId: string): boolean {
    return this.leaf(hashOf(runId))?.has(runId) === true;
  }

  with(runId: string, value: Value): RunMap<Value> {
    const hash = hashOf(runId);
    const leaf = new Map(this.leaf(hash));
    const size = this.size + (leaf.has(runId) ? 0 : 1);
    leaf.set(runId, value);
    return new RunMap(put(this.root, hash, leaf, LEVELS), size);
  }

  without(runId: string): RunMap<Value> {
    const hash = hashOf(runId);
    const found = this.leaf(hash);
    if (!found?.has(runId)) return this;
    const leaf = new Map(found);
    leaf.delete(runId);
    return new RunMap(put(this.root, hash, leaf.size > 0 ? leaf : undefined, LEVELS), this.size - 1);
  }

  /** All entries, by run id: the same order whoever asks. */
  entries(): [string, Value][] {
    return entriesOf(this.root).toSorted(([one], [other]) => (one < other ? -1 : 1));
  }

  private leaf(hash: number): Leaf<Value> | undefined {
    let at: Node<Value> | Leaf<Value> | undefined = this.root;
    for (let level = LEVELS; level > 0 && isNode(at); level--) at = at[branchOf(hash, level)];
    return isNode(at) ? undefined : at;
  }
}

const isNode = <Value>(at: Node<Value> | Leaf<Value> | undefined): at is Node<Value> => Array.isArray(at);

const branchOf = (hash: number, level: number): number => (hash >>> (BITS * (level - 1))) & (BRANCHES - 1);

/** The same node with another leaf at the end of the path that the hash names. */
function put<Value>(
  node: Node<Value>,
  hash: number,
  leaf: Leaf<Value> | undefined,
  level: number,
): Node<Value> {
  const branch = branchOf(hash, level);
  if (level === 1) return node.with(branch, leaf);
  const below = node[branch];
  return node.with(branch, put(isNode(below) ? below : NOTHING, hash, leaf, level - 1));
}

const entriesOf = <Value>(node: Node<Value>): [string, Value][] =>
  node.flatMap((below) => (isNode(below) ? entriesOf(below) : below ? [...below] : []));

function hashOf(runId: string): number {
  let hash = 0;
  for (let i = 0; i < runId.length; i++) hash = (Math.imul(hash, 31) + runId.charCodeAt(i)) | 0;
  return hash ^ (hash >>> 13);
}
