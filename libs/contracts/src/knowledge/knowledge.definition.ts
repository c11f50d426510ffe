import type { ToolDefinition } from '../runs/run.definition';

const READS = { effect: 'read', idempotent: true, timeoutMs: 15_000, endsRun: false } as const;

/**
 * The core set: offered to every agent of a deployment that has knowledge, ahead of its optional tools, and locked: no
 * catalogue row may take one of these names (domain, section 2). They read as the agent's owner.
 */
export const CORE_TOOLS: readonly ToolDefinition[] = [
  {
    name: 'knowledge_search',
    description:
      'Searches the documents that the owner of this agent may read. Answers passages, best first, each with its document_id and offset; knowledge_read shows what stands around one.',
    inputSchema: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          description: 'Words to look for; "quoted words" stand together, -word must not occur',
        },
        limit: { type: 'integer', minimum: 1, maximum: 20, description: 'Most passages, default 5' },
      },
      required: ['query'],
      additionalProperties: false,
    },
    source: { kind: 'knowledge', operation: 'search' },
    ...READS,
  },
  {
    name: 'knowledge_read',
    description: 'Reads a document, or a part of it, by the document_id that a search or the list gave.',
    inputSchema: {
      type: 'object',
      properties: {
        document_id: { type: 'string' },
        offset: { type: 'integer', minimum: 0, description: 'First character, default 0' },
        length: { type: 'integer', minimum: 1, maximum: 40_000, description: 'Characters, default 8000' },
      },
      required: ['document_id'],
      additionalProperties: false,
    },
    source: { kind: 'knowledge', operation: 'read' },
    ...READS,
  },
  {
    name: 'knowledge_sources',
    description: 'Lists the documents that the owner of this agent may read, by source and title.',
    inputSchema: {
      type: 'object',
      properties: {
        limit: { type: 'integer', minimum: 1, maximum: 200, description: 'Most documents, default 50' },
        cursor: { type: 'string', description: 'next_cursor of the page before' },
      },
      additionalProperties: false,
    },
    source: { kind: 'knowledge', operation: 'sources' },
    ...READS,
  },
];

const NAMES: ReadonlySet<string> = new Set(CORE_TOOLS.map(({ name }) => name));

/** True for the name of a core tool, whether or not a deployment offers them. */
export const isCoreTool = (name: string): boolean => NAMES.has(name);
