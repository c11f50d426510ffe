import { Problem } from '@runyard/contracts';
import type { DocumentAccess, DocumentBody, DocumentEvent } from '@runyard/contracts';
import { requireOwnerOrAdmin } from './rights';
import type { Asker } from './rights';

export interface StoredDocument {
  situation: 'stored';
  ownerId: string | null;
  body: DocumentBody;
  access: DocumentAccess;
  /** The how-manieth document of this id. */
  generation: number;
  /** Events since it was uploaded. */
  revision: number;
  createdAt: number;
  updatedAt: number;
}

export type Document = { situation: 'absent' | 'deleted'; generation: number } | StoredDocument;

export const NO_DOCUMENT: Document = { situation: 'absent', generation: 0 };

export type DocumentCommand = { asker: Asker } & (
  | { type: 'UploadDocument'; body: DocumentBody; access: DocumentAccess }
  | { type: 'ReviseDocument'; changes: Partial<DocumentBody>; ifMatch?: string }
  | { type: 'ShareDocument'; access: DocumentAccess; ifMatch?: string }
  | { type: 'DeleteDocument'; ifMatch?: string }
);

/** An event before the log has given it time and actor. */
export type DocumentDecision = DocumentEvent extends infer E
  ? E extends DocumentEvent
    ? Pick<E, 'type' | 'data'>
    : never
  : never;

export const etagOf = ({ generation, revision }: Pick<StoredDocument, 'generation' | 'revision'>): string =>
  `${generation}.${revision}`;

/** Narrows to a document that is there. Throws `not_found`. */
export function requireStored(document: Document): StoredDocument {
  if (document.situation !== 'stored') throw new Problem('not_found', 'There is no such document');
  return document;
}

export function evolveDocument(document: Document, event: DocumentEvent): Document {
  if (event.type === 'DocumentUploaded') {
    const { ownerId, generation, access, ...body } = event.data;
    const times = { createdAt: event.time, updatedAt: event.time };
    return { situation: 'stored', ownerId, body, access, generation, revision: 1, ...times };
  }
  if (event.type === 'DocumentDeleted') return { situation: 'deleted', generation: document.generation };
  if (document.situation !== 'stored') return document;
  const revision = document.revision + 1;
  switch (event.type) {
    case 'DocumentRevised':
      return { ...document, body: event.data, revision, updatedAt: event.time };
    case 'DocumentShared':
      return { ...document, access: event.data.access, revision };
    default:
      return event satisfies never;
  }
}

/** What a command leads to. A wish that is already true yields nothing; a refusal is thrown as a Problem. */
export function decideDocument(document: Document, command: DocumentCommand): DocumentDecision[] {
  if (command.type === 'UploadDocument') return upload(document, command);
  if (command.type === 'DeleteDocument' && document.situation === 'deleted') return [];
  const stored = requireStored(document);
  requireOwnerOrAdmin(command.asker, stored.ownerId);
  requireMatch(stored, command.ifMatch);
  switch (command.type) {
    case 'ReviseDocument': {
      const body = { ...stored.body, ...command.changes };
      return same(body, stored.body) ? [] : [{ type: 'DocumentRevised', data: body }];
    }
    case 'ShareDocument': {
      const access = inOrder(command.access);
      return same(access, stored.access) ? [] : [{ type: 'DocumentShared', data: { access } }];
    }
    case 'DeleteDocument':
      return [{ type: 'DocumentDeleted', data: {} }];
    default:
      return command satisfies never;
  }
}

function upload(
  document: Document,
  { asker, body, access }: Extract<DocumentCommand, { type: 'UploadDocument' }>,
): DocumentDecision[] {
  if (document.situation === 'stored')
    throw new Problem(
      'already_exists',
      'There is a document with this id already; change it, or choose another id',
    );
  const generation = document.generation + 1;
  const data = { ownerId: asker.userId, generation, ...body, access: inOrder(access) };
  return [{ type: 'DocumentUploaded', data }];
}

function requireMatch(document: StoredDocument, ifMatch: string | undefined): void {
  const etag = etagOf(document);
  if (ifMatch !== undefined && ifMatch !== etag)
    throw new Problem(
      'version_mismatch',
      'The document was changed since it was read; read it again and repeat the edit',
      { etag },
    );
}

/** Each reader once, in an order that does not depend on who wrote the list. */
const inOrder = ({ everyone, users, groups }: DocumentAccess): DocumentAccess => ({
  everyone,
  users: [...new Set(users)].sort(),
  groups: [...new Set(groups)].sort(),
});

/** Members in the order of their names: an event and a request may have them in another one. */
const canonical = (value: object): string =>
  JSON.stringify(value, Object.keys({ ...value, digest: 0, bytes: 0, characters: 0 }).sort());

const same = <T extends DocumentBody | DocumentAccess>(a: T, b: T): boolean => canonical(a) === canonical(b);
