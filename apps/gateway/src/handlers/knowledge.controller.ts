import { Controller } from '@nestjs/common';
import {
  deleteDocumentSchema,
  documentRefSchema,
  listDocumentsSchema,
  mcpMessageSchema,
  searchKnowledgeSchema,
  shareDocumentSchema,
  updateDocumentSchema,
  uploadDocumentSchema,
} from '@runyard/contracts';
import { z } from 'zod';
import { Answer, FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { ANYBODY, OWNERS, PEOPLE } from './access';
import { storedDocumentRow } from './knowledge-rows';
import { changeRow, named, pageOf } from './rows';
import { Services } from './services.adapter';

const tag = 'knowledge';
const document = { status: 200, description: 'The document as it is now', body: storedDocumentRow } as const;
const passages = named(
  'PassageList',
  z.looseObject({
    results: z.array(
      z.looseObject({ document_id: z.string(), title: z.string(), offset: z.int(), text: z.string() }),
    ),
  }),
);

/** Documents that agents may look up, and the search that their core tools do. Passed on to the knowledge service. */
@Controller()
export class KnowledgeController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'POST',
    path: '/v1/documents',
    name: 'documents.upload',
    tag,
    summary: 'Upload a document',
    description: 'Who uploads it owns it; nobody else reads it unless `access` says so.',
    access: OWNERS,
    input: uploadDocumentSchema,
    success: [{ ...document, status: 201 }],
    problems: ['already_exists', 'conflict'],
    idempotency: 'replayed',
  })
  async upload(@FromRequest() call: Call): Promise<Answer> {
    const row = await this.services.knowledge<{ document_id: string }>(call, 'documents.upload');
    return new Answer(row, { headers: { location: `/v1/documents/${row.document_id}` } });
  }

  @Route({
    method: 'GET',
    path: '/v1/documents',
    name: 'documents.list',
    tag,
    summary: 'List documents by title',
    description: 'Those that the caller may read; admins and operators see all.',
    access: ANYBODY,
    input: listDocumentsSchema,
    success: [
      { status: 200, description: 'A page of documents', body: pageOf('DocumentPage', storedDocumentRow) },
    ],
    problems: ['invalid_cursor'],
  })
  list(@FromRequest() call: Call): Promise<unknown> {
    return this.services.knowledge(call, 'documents.list');
  }

  @Route({
    method: 'GET',
    path: '/v1/documents/:document_id',
    name: 'documents.get',
    tag,
    summary: 'Read a document with its text',
    access: ANYBODY,
    input: documentRefSchema,
    success: [document],
  })
  get(@FromRequest() call: Call): Promise<unknown> {
    return this.services.knowledge(call, 'documents.get');
  }

  @Route({
    method: 'PATCH',
    path: '/v1/documents/:document_id',
    name: 'documents.update',
    tag,
    summary: 'Change a document',
    access: OWNERS,
    input: updateDocumentSchema,
    success: [document],
    problems: ['version_mismatch', 'conflict'],
  })
  update(@FromRequest() call: Call): Promise<unknown> {
    return this.services.knowledge(call, 'documents.update');
  }

  @Route({
    method: 'PUT',
    path: '/v1/documents/:document_id/access',
    name: 'documents.share',
    tag,
    summary: 'Say who may read a document',
    description: 'The whole list: whoever is not named loses the right, from the next call of a tool on.',
    access: OWNERS,
    input: shareDocumentSchema,
    success: [document],
    problems: ['version_mismatch', 'conflict'],
  })
  share(@FromRequest() call: Call): Promise<unknown> {
    return this.services.knowledge(call, 'documents.share');
  }

  @Route({
    method: 'DELETE',
    path: '/v1/documents/:document_id',
    name: 'documents.delete',
    tag,
    summary: 'Delete a document',
    access: OWNERS,
    input: deleteDocumentSchema,
    success: [{ status: 200, description: 'Deleted', body: changeRow }],
    problems: ['version_mismatch', 'conflict'],
  })
  remove(@FromRequest() call: Call): Promise<unknown> {
    return this.services.knowledge(call, 'documents.delete');
  }

  @Route({
    method: 'GET',
    path: '/v1/knowledge/search',
    name: 'knowledge.search',
    tag,
    summary: 'Search the documents that you may read, as your agents do',
    access: PEOPLE,
    input: searchKnowledgeSchema,
    success: [{ status: 200, description: 'Passages, best first', body: passages }],
    problems: ['owner_inactive'],
  })
  search(@FromRequest() call: Call): Promise<unknown> {
    return this.services.knowledge(call, 'knowledge.search');
  }

  @Route({
    method: 'POST',
    path: '/v1/knowledge/mcp',
    name: 'knowledge.mcp',
    tag,
    summary: 'Knowledge as a server of the Model Context Protocol',
    description:
      'Streamable HTTP without sessions and without a stream: one JSON-RPC message, one answer. It reads in the name of the person whose key is shown.',
    access: PEOPLE,
    input: mcpMessageSchema,
    success: [
      {
        status: 200,
        description: 'The answer',
        body: named('McpAnswer', z.looseObject({ jsonrpc: z.string() })),
      },
      { status: 202, description: 'A notification was taken' },
    ],
    problems: ['owner_inactive'],
  })
  async mcp(@FromRequest() call: Call): Promise<Answer> {
    const { message } = await this.services.knowledge<{ message: unknown }>(call, 'knowledge.mcp');
    return message === null ? new Answer(undefined, { status: 202 }) : new Answer(message);
  }
}
