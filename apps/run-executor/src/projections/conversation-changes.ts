/** A conversation as a batch makes or changes it. Times are epoch milliseconds. */
export interface ConversationRow {
  org_id: string;
  conversation_id: string;
  user_id: string | null;
  /** Undefined: made by a run, which says nothing about it. */
  title: string | undefined;
  created_at: number;
}

/** What a conversation's row owes to a run that was erased. */
export interface KeptConversation {
  org_id: string;
  conversation_id: string;
  user_id: string | null;
  created_at: number;
}

export interface ConversationDeletion {
  org_id: string;
  conversation_id: string;
  /** The last deletion in the batch: what its tombstone says. */
  sequence: number;
  time: number;
  /** The first one in the batch: it is the one that took the rows which were there before. */
  first_sequence: number;
  first_time: number;
}

export const conversationKey = (org: string, conversation: string): string => `${org} ${conversation}`;

/** What a batch does to conversations: deletions first, then what came to be after them. */
export class ConversationChanges {
  readonly rows = new Map<string, ConversationRow>();
  readonly deletions = new Map<string, ConversationDeletion>();
  readonly keeps = new Map<string, KeptConversation>();

  constructor(private readonly tombstones: ReadonlyMap<string, number>) {}

  /** Whether a deletion that is already known lies at or after this commit. */
  isPast(org: string, conversation: string, sequence: number): boolean {
    const key = conversationKey(org, conversation);
    const deletedAt = this.deletions.get(key)?.sequence ?? this.tombstones.get(key) ?? 0;
    return sequence <= deletedAt;
  }

  /** The first run that names a conversation makes it. */
  implied(org: string, conversation: string, user: string | null, time: number): void {
    const key = conversationKey(org, conversation);
    if (this.rows.has(key)) return;
    this.rows.set(key, {
      org_id: org,
      conversation_id: conversation,
      user_id: user,
      title: undefined,
      created_at: time,
    });
  }

  kept(
    org: string,
    {
      conversationId,
      userId,
      createdAt,
    }: { conversationId: string; userId: string | null; createdAt: number },
  ): void {
    this.keeps.set(conversationKey(org, conversationId), {
      org_id: org,
      conversation_id: conversationId,
      user_id: userId,
      created_at: createdAt,
    });
  }

  created(org: string, conversation: string, user: string | null, title: string, time: number): void {
    const key = conversationKey(org, conversation);
    const before = this.rows.get(key);
    const kept = this.keeps.get(key);
    if (kept) this.keeps.set(key, { ...kept, user_id: user });
    this.rows.set(key, {
      org_id: org,
      conversation_id: conversation,
      user_id: user,
      title,
      created_at: before?.created_at ?? time,
    });
  }

  deleted(org: string, conversation: string, sequence: number, time: number): void {
    const key = conversationKey(org, conversation);
    this.rows.delete(key);
    this.keeps.delete(key);
    const { first_sequence = sequence, first_time = time } = this.deletions.get(key) ?? {};
    this.deletions.set(key, {
      org_id: org,
      conversation_id: conversation,
      sequence,
      time,
      first_sequence,
      first_time,
    });
  }
}
