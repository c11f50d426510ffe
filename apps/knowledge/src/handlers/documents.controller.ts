import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  Problem,
  deleteDocumentSchema,
  documentRefSchema,
  listDocumentsSchema,
  shareDocumentSchema,
  updateDocumentSchema,
  uploadDocumentSchema,
  utf8Bytes,
} from '@runyard/contracts';
import type { Caller, DocumentAccess, DocumentContent, DocumentRow } from '@runyard/contracts';
import { blobs } from '@runyard/persistence';
import type { Blobs, Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import { etagOf, requireStored } from '../domain/document';
import type { DocumentCommand } from '../domain/document';
import { seesAll } from '../domain/rights';
import { storableText } from '../domain/storable-text';
import { findDocument, listDocuments } from '../projections/document.queries';
import { knowledgeReached } from '../projections/knowledge.queries';
import { KnowledgeLog } from './knowledge-log.adapter';
import { requireReaders } from './readers';
import { askerOf, orgOf, parsed, readerOf } from './requests';

/** How long a read waits for the position that its caller has seen; after that it answers with what is there. */
const BRIEFLY_MS = 2_000;
/** A text may hold what cannot be stored: it is replaced visibly, since documents come from anywhere. */
const MENDED = ['content'];

/** RPC `documents.*`: what agents may look up, and who reads it. */
@Injectable()
export class DocumentsController {
  private readonly texts: Blobs;

  constructor(
    @Inject(KnowledgeLog) private readonly knowledge: KnowledgeLog,
    @Inject(DATABASE) private readonly db: Database,
  ) {
    this.texts = blobs(db);
  }

  @RpcMethod('documents.upload')
  async upload(caller: Caller, body: unknown): Promise<DocumentRow & { replaced_characters: number }> {
    const input = parsed(uploadDocumentSchema, body, MENDED);
    const org = orgOf(caller);
    const id = input.document_id ?? `doc-${randomBytes(12).toString('hex')}`;
    await requireReaders(this.knowledge, org, input.access);
    const { title, source, language, access } = input;
    const { content, replaced } = await this.stored(org, input.content);
    const wish = { title, source, language, content };
    const row = await this.act(caller, id, {
      type: 'UploadDocument',
      asker: askerOf(caller),
      body: wish,
      access,
    });
    return { ...row, replaced_characters: replaced };
  }

  @RpcMethod('documents.update')
  async update(caller: Caller, body: unknown): Promise<DocumentRow & { replaced_characters: number }> {
    const input = parsed(updateDocumentSchema, body, MENDED);
    const { document_id: id, if_match: ifMatch, content: text, ...changed } = input;
    const stored = text === undefined ? undefined : await this.stored(orgOf(caller), text);
    const given = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
    const changes = { ...given, ...(stored && { content: stored.content }) };
    const row = await this.act(caller, id, {
      type: 'ReviseDocument',
      asker: askerOf(caller),
      changes,
      ifMatch,
    });
    return { ...row, replaced_characters: stored?.replaced ?? 0 };
  }

  /** Holds from the next call of a tool on, of runs under way too. */
  @RpcMethod('documents.share')
  async share(caller: Caller, body: unknown): Promise<DocumentRow> {
    const { document_id: id, if_match: ifMatch, ...access } = parsed(shareDocumentSchema, body);
    await requireReaders(this.knowledge, orgOf(caller), access);
    return this.act(caller, id, { type: 'ShareDocument', asker: askerOf(caller), access, ifMatch });
  }

  @RpcMethod('documents.delete')
  async delete(
    caller: Caller,
    body: unknown,
  ): Promise<{ document_id: string; deleted: true; position: string }> {
    const { document_id: id, if_match: ifMatch } = parsed(deleteDocumentSchema, body);
    const command: DocumentCommand = { type: 'DeleteDocument', asker: askerOf(caller), ifMatch };
    const { position } = await this.knowledge.act(
      this.knowledge.document(orgOf(caller), id),
      command,
      caller,
    );
    return { document_id: id, deleted: true, position };
  }

  /** With the text. Who may not read it learns that it is not there. */
  @RpcMethod('documents.get')
  async get(caller: Caller, body: unknown): Promise<DocumentRow & { content: string }> {
    const { document_id: id, at_least: atLeast } = parsed(documentRefSchema, body);
    if (atLeast !== undefined) await knowledgeReached(this.db, atLeast, BRIEFLY_MS);
    const found = await this.db.inOrg(orgOf(caller), (tx) => findDocument(tx, this.readerOf(caller), id));
    const content = found && (await this.texts.get(caller.org, found.digest));
    if (!found || content === undefined) throw new Problem('not_found', 'There is no such document');
    return { ...found.row, content };
  }

  @RpcMethod('documents.list')
  async list(caller: Caller, body: unknown): Promise<{ data: DocumentRow[]; next_cursor: string | null }> {
    const { at_least: atLeast, ...filter } = parsed(listDocumentsSchema, body);
    if (atLeast !== undefined) await knowledgeReached(this.db, atLeast, BRIEFLY_MS);
    return this.db.inOrg(orgOf(caller), (tx) => listDocuments(tx, this.readerOf(caller), filter));
  }

  /** Null: sees all. */
  private readerOf(caller: Caller): string | null {
    return seesAll(askerOf(caller)) ? null : readerOf(caller);
  }

  private async stored(org: string, given: string): Promise<{ content: DocumentContent; replaced: number }> {
    const { text, replaced } = storableText(given);
    const digest = await this.texts.put(org, text);
    return { content: { digest, bytes: utf8Bytes(text), characters: text.length }, replaced };
  }

  private async act(caller: Caller, id: string, command: DocumentCommand): Promise<DocumentRow> {
    const aggregate = this.knowledge.document(orgOf(caller), id);
    const { state, position } = await this.knowledge.act(aggregate, command, caller);
    const { ownerId, body, access, createdAt, updatedAt, ...numbers } = requireStored(state);
    const { title, source, language, content } = body;
    return {
      document_id: id,
      owner_id: ownerId,
      title,
      source,
      language,
      bytes: content.bytes,
      characters: content.characters,
      access: accessRow(access),
      created_at: new Date(createdAt).toISOString(),
      updated_at: new Date(updatedAt).toISOString(),
      etag: etagOf(numbers),
      position,
    };
  }
}

const accessRow = ({ everyone, users, groups }: DocumentAccess): DocumentRow['access'] => ({
  everyone,
  users,
  groups,
});
