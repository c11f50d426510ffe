import type { DomainEvent } from '../envelope';

// Context `knowledge`: one aggregate a document (`doc-<document id>`) and one a group of readers (`group-<group id>`).

export const documentAggregate = (documentId: string): string => `doc-${documentId}`;
export const groupAggregate = (groupId: string): string => `group-${groupId}`;

/** Who may read a document beside its owner. */
export interface DocumentAccess {
  /** Everybody of the org. */
  everyone: boolean;
  /** Ids of users. */
  users: string[];
  /** Ids of groups; a group that is not there (any more) grants nothing. */
  groups: string[];
}

/** The text lies in the org's blobs; an event names it by its digest. */
export interface DocumentContent {
  digest: string;
  /** Of its UTF-8. */
  bytes: number;
  /** UTF-16 units, as offsets into it count. */
  characters: number;
}

/** What a document is, without its readers. */
export interface DocumentBody {
  title: string;
  /** Where it comes from, in the uploader's words; may be empty. */
  source: string;
  /** Text search configuration that knows its words' stems. */
  language: string;
  content: DocumentContent;
}

/** There is a document, with its readers. */
export type DocumentUploaded = DomainEvent<
  'DocumentUploaded',
  {
    /** Null: uploaded by an application. */
    ownerId: string | null;
    /** The how-manieth document of this id: ids of deleted ones may be used again. */
    generation: number;
    access: DocumentAccess;
  } & DocumentBody
>;
/** Its title, source, language or text has changed; its readers stay. */
export type DocumentRevised = DomainEvent<'DocumentRevised', DocumentBody>;
/** The readers as they are from now on: whoever is not named has lost the right. */
export type DocumentShared = DomainEvent<'DocumentShared', { access: DocumentAccess }>;
/** It is gone, and nobody may read it any more. */
export type DocumentDeleted = DomainEvent<'DocumentDeleted', Record<string, never>>;

/** There is a group of readers. */
export type GroupCreated = DomainEvent<'GroupCreated', { name: string }>;
/** Its name has changed. */
export type GroupRenamed = DomainEvent<'GroupRenamed', { name: string }>;
/** A person may read what is shared with the group. */
export type GroupMemberAdded = DomainEvent<'GroupMemberAdded', { userId: string }>;
/** A person may no longer read what is shared with the group. */
export type GroupMemberRemoved = DomainEvent<'GroupMemberRemoved', { userId: string }>;
/** Its id is never used again, so that no document is shared with people whom nobody meant. */
export type GroupDeleted = DomainEvent<'GroupDeleted', Record<string, never>>;

export type DocumentEvent = DocumentUploaded | DocumentRevised | DocumentShared | DocumentDeleted;
export type GroupEvent = GroupCreated | GroupRenamed | GroupMemberAdded | GroupMemberRemoved | GroupDeleted;
export type KnowledgeEvent = DocumentEvent | GroupEvent;

export const KNOWLEDGE_EVENTS: Readonly<Record<KnowledgeEvent['type'], true>> = {
  DocumentUploaded: true,
  DocumentRevised: true,
  DocumentShared: true,
  DocumentDeleted: true,
  GroupCreated: true,
  GroupRenamed: true,
  GroupMemberAdded: true,
  GroupMemberRemoved: true,
  GroupDeleted: true,
};
