import type { ConversationEvent, RunEvent } from '@runyard/contracts';
import { DamagedCommit, isUuid } from './commits';
import type { ReadCommit, ReadEvent } from './commits';
import { ConversationChanges, conversationKey } from './conversation-changes';
import { erasedRow, erasuresIn } from './erasures';
import type { ErasedRow } from './erasures';
import { born, isBirth } from './run-birth';
import { fold } from './run-fold';
import { isEnded } from './run-image';
import type { RunImage } from './run-image';

/** What a batch finds in the database. */
export interface Found {
  /** Rows of the batch's runs, without what the batch does not need. */
  runs: readonly RunImage[];
  /** Ids that must not come back. */
  deletedRuns: ReadonlySet<string>;
  erasedOrgs: ReadonlySet<string>;
  /** Sequence of the deletion, by {@link conversationKey}. */
  deletedConversations: ReadonlyMap<string, number>;
}

/** A run that is gone: what the tombstone keeps of it. */
export interface Deletion {
  image: RunImage;
  sequence: number;
  time: number;
}

/** A key that was fenced before its request became a run (P2.6): no row, but the id is used up. */
export interface FencedKey {
  run_id: string;
  org_id: string;
}

/**
 * Folds a batch of commits over what the database holds: pure, in stream order, one patch per run at the end. Reading a
 * commit twice changes nothing, because every row knows the sequence that it reflects.
 */
export class RunBatch {
  readonly runs = new Map<string, RunImage>();
  readonly deletions: Deletion[] = [];
  readonly fenced: FencedKey[] = [];
  readonly erased: ErasedRow[] = [];
  readonly conversations: ConversationChanges;
  /** Orgs and users that the batch names; rows refer to them. */
  readonly references = new Map<string, { org_id: string; user_id: string | null }>();
  private readonly gone: Set<string>;

  constructor(private readonly found: Found) {
    for (const image of found.runs) this.runs.set(image.run_id, image);
    this.gone = new Set(found.deletedRuns);
    this.conversations = new ConversationChanges(found.deletedConversations);
  }

  apply(commit: ReadCommit): void {
    if (this.found.erasedOrgs.has(commit.org)) return;
    const image = commit.context === 'runs' ? this.runs.get(commit.id) : undefined;
    if (image && commit.sequence <= image.row.sequence) return;
    for (const event of commit.events) {
      try {
        if (commit.context === 'runs') this.runEvent(commit, event);
        else if (commit.context === 'conversations') this.conversationEvent(commit, event);
        else this.erasures(commit, event);
      } catch (error) {
        throw damagedData(commit, event, error);
      }
    }
  }

  /** Runs that the batch changed and that are still there. */
  touched(): RunImage[] {
    return [...this.runs.values()].filter(({ touched }) => touched);
  }

  private runEvent(commit: ReadCommit, read: ReadEvent): void {
    const event = { type: read.name, data: read.data, time: read.time } as RunEvent;
    const position = `${commit.sequence}.${read.index}`;
    const image = this.runs.get(commit.id);
    if (!image) return this.firstEvent(commit, event, position);
    if (event.type === 'RunDeleted') return this.delete(image, commit.sequence, event.time);
    if (isEnded(image)) return;
    fold(image, event, position);
    image.row.sequence = commit.sequence;
    image.touched = true;
  }

  private firstEvent(commit: ReadCommit, event: RunEvent, position: string): void {
    if (this.gone.has(commit.id)) return;
    if (isBirth(event)) {
      const image = born(commit.org, commit.id, event, position);
      image.row.sequence = commit.sequence;
      this.refer(commit.org, event.data.userId);
      image.parent_is_new = this.isNew(event.data.parentRunId);
      this.runs.set(commit.id, image);
      if (image.conversation_id !== null)
        this.conversations.implied(commit.org, image.conversation_id, event.data.userId, event.time);
    } else if (event.type === 'RunFailed' || event.type === 'RunCancelled') {
      this.fenced.push({ run_id: commit.id, org_id: commit.org });
      this.gone.add(commit.id);
    }
  }

  private refer(org: string, user: string | null): void {
    const user_id = isUuid(user) ? user.toLowerCase() : null;
    this.references.set(`${org} ${user_id}`, { org_id: org, user_id });
  }

  private isNew(runId: string | null): boolean {
    return runId !== null && this.runs.get(runId)?.birth != null;
  }

  private delete(image: RunImage, sequence: number, time: number): void {
    this.deletions.push({ image, sequence, time });
    this.runs.delete(image.run_id);
    this.gone.add(image.run_id);
  }

  /** What is left of runs whose logs are, or are about to be, overwritten. */
  private erasures({ org, context, sequence }: ReadCommit, read: ReadEvent): void {
    for (const erasure of erasuresIn({ context, events: [read] })) {
      this.runs.delete(erasure.runId);
      this.gone.add(erasure.runId);
      this.erased.push(erasedRow(org, erasure, { sequence, time: read.time }));
      const { conversation } = erasure;
      if (conversation === null || this.conversations.isPast(org, conversation.conversationId, sequence))
        continue;
      this.refer(org, conversation.userId);
      this.conversations.kept(org, conversation);
    }
  }

  private conversationEvent(commit: ReadCommit, read: ReadEvent): void {
    const event = { type: read.name, data: read.data, time: read.time } as ConversationEvent;
    const { org, id, sequence } = commit;
    if (this.conversations.isPast(org, id, sequence)) return;
    if (event.type === 'ConversationCreated') {
      this.refer(org, event.data.userId);
      this.conversations.created(org, id, event.data.userId, event.data.title, event.time);
      return;
    }
    const key = conversationKey(org, id);
    for (const image of this.runs.values())
      if (image.conversation_id !== null && conversationKey(image.org_id, image.conversation_id) === key)
        this.delete(image, sequence, event.time);
    this.conversations.deleted(org, id, sequence, event.time);
  }
}

function damagedData(commit: ReadCommit, event: ReadEvent, error: unknown): DamagedCommit {
  const why = error instanceof Error ? error.message : String(error);
  return new DamagedCommit(
    commit.stream,
    commit.sequence,
    `${commit.sequence}.${event.index}`,
    event.name,
    why,
  );
}
