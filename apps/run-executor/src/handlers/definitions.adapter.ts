import type { DefinitionSnapshot } from '@runyard/contracts';
import type { BlobStore } from './texts.adapter';

/** Definitions kept parsed; one a version of an agent that ran lately. */
const KEPT = 500;

/** Definition snapshots: stored once by digest, shared by all runs of the same agent version, models and tools. */
export class Definitions {
  private readonly kept = new Map<string, DefinitionSnapshot>();

  constructor(private readonly blobs: BlobStore) {}

  /** Stores a snapshot and returns its digest; storing again what is there costs nothing. */
  async put(org: string, definition: DefinitionSnapshot): Promise<string> {
    const digest = await this.blobs.put(org, JSON.stringify(definition));
    this.keep(digest, definition);
    return digest;
  }

  /** The snapshot; undefined where it was erased. */
  async get(org: string, digest: string): Promise<DefinitionSnapshot | undefined> {
    const kept = this.kept.get(digest);
    if (kept) return kept;
    const text = await this.blobs.get(org, digest);
    if (text === undefined) return undefined;
    const definition = JSON.parse(text) as DefinitionSnapshot;
    this.keep(digest, definition);
    return definition;
  }

  private keep(digest: string, definition: DefinitionSnapshot): void {
    this.kept.delete(digest);
    this.kept.set(digest, definition);
    const [oldest] = this.kept.keys();
    if (this.kept.size > KEPT && oldest !== undefined) this.kept.delete(oldest);
  }
}
