import { z } from 'zod';
import { agentSlug, etagSchema, pageSchema, positionSchema } from '../agents/agent.requests';

/** Text search configurations of Postgres: which words count as one. `simple`: none but the same. */
export const LANGUAGES = [
  ...([
    'simple',
    'arabic',
    'armenian',
    'basque',
    'catalan',
    'danish',
    'dutch',
    'english',
    'finnish',
  ] as const),
  ...(['french', 'german', 'greek', 'hindi', 'hungarian', 'indonesian', 'irish', 'italian'] as const),
  ...(['lithuanian', 'nepali', 'norwegian', 'portuguese', 'romanian', 'russian', 'serbian'] as const),
  ...(['spanish', 'swedish', 'tamil', 'turkish', 'yiddish'] as const),
];

/** Largest document in bytes of UTF-8: as much as the bus carries in one message with room to spare. */
export const MAX_DOCUMENT_BYTES = 524_288;

const text = (max: number) => z.string().max(max, `must be at most ${max} characters`);
const filled = (max: number) => text(max).refine((value) => value.trim() !== '', 'must not be empty');
const userId = z.uuid('must be the id of a user');

/** Bytes of UTF-8. */
export function utf8Bytes(value: string): number {
  let bytes = 0;
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    // Each half of a pair counts for two of its four bytes.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
  }
  return bytes;
}

const content = z
  .string()
  .refine((value) => value.trim() !== '', 'must not be empty')
  .refine(
    (value) => utf8Bytes(value) <= MAX_DOCUMENT_BYTES,
    `must be at most ${MAX_DOCUMENT_BYTES} bytes of UTF-8; upload it in parts`,
  );

const documentFields = {
  title: filled(300),
  source: text(300),
  language: z.enum(LANGUAGES, `must be one of ${LANGUAGES.join(', ')}`),
  content,
};
const accessFields = {
  everyone: z.boolean('must be true or false'),
  users: z.array(userId).max(200, 'must be at most 200 users; use a group'),
  groups: z.array(agentSlug).max(100, 'must be at most 100 groups'),
};
const accessSchema = z.strictObject({
  everyone: accessFields.everyone.default(false),
  users: accessFields.users.default([]),
  groups: accessFields.groups.default([]),
});

/** `documents.upload`. Who uploads, owns; without `access` nobody else reads it. */
export const uploadDocumentSchema = z.strictObject({
  /** Left out: a new one. */
  document_id: agentSlug.optional(),
  ...documentFields,
  source: documentFields.source.default(''),
  language: documentFields.language.default('english'),
  access: accessSchema.default({ everyone: false, users: [], groups: [] }),
});
export type UploadDocumentInput = z.infer<typeof uploadDocumentSchema>;
/** `documents.update`: the fields that change. */
export const updateDocumentSchema = z.strictObject({
  document_id: agentSlug,
  if_match: etagSchema.optional(),
  ...z.strictObject(documentFields).partial().shape,
});
export type UpdateDocumentInput = z.infer<typeof updateDocumentSchema>;
/** `documents.share`: all readers; whoever is not named loses the right. */
export const shareDocumentSchema = z.strictObject({
  document_id: agentSlug,
  if_match: etagSchema.optional(),
  ...accessSchema.shape,
});
/** `documents.get`. */
export const documentRefSchema = z.strictObject({
  document_id: agentSlug,
  at_least: positionSchema.optional(),
});
/** `documents.delete`. */
export const deleteDocumentSchema = z.strictObject({
  document_id: agentSlug,
  if_match: etagSchema.optional(),
});
/** `documents.list`, by title: what the caller may read; admins and operators see all. */
export const listDocumentsSchema = z.strictObject({
  ...pageSchema,
  source: text(300).optional(),
  /** Part of the title or the id. */
  search: text(200).optional(),
});

/** `groups.create`. */
export const createGroupSchema = z.strictObject({ group_id: agentSlug, name: filled(200) });
/** `groups.update`. */
export const updateGroupSchema = createGroupSchema;
/** `groups.get`, `groups.delete`. */
export const groupRefSchema = z.strictObject({ group_id: agentSlug, at_least: positionSchema.optional() });
/** `groups.list`, by id. */
export const listGroupsSchema = z.strictObject(pageSchema);
/** `groups.add_member`, `groups.remove_member`. */
export const groupMemberSchema = z.strictObject({ group_id: agentSlug, user_id: userId });

/** `knowledge.search`, also the arguments of the core tool. */
export const searchKnowledgeSchema = z.strictObject({
  query: filled(1_000),
  limit: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(20, 'must be at most 20')
    .default(5),
});
/** `knowledge.read`: a part of a document. Offsets count UTF-16 units. */
export const readKnowledgeSchema = z.strictObject({
  document_id: agentSlug,
  offset: z.int('must be a whole number').min(0, 'must be at least 0').default(0),
  length: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(40_000, 'must be at most 40000')
    .default(8_000),
});
/** `knowledge.sources`: the documents that can be read, by source and title. */
export const listKnowledgeSchema = z.strictObject({
  limit: pageSchema.limit,
  cursor: pageSchema.cursor,
});

/** `knowledge.mcp`: one JSON-RPC message of the Model Context Protocol. */
export const mcpMessageSchema = z.looseObject({
  jsonrpc: z.literal('2.0', 'must be 2.0'),
  id: z
    .union([z.string().max(200), z.number()])
    .nullable()
    .optional(),
  method: z.string().max(200).optional(),
  params: z.record(z.string(), z.unknown()).optional(),
});
export type McpMessage = z.infer<typeof mcpMessageSchema>;
