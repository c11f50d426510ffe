import type { JsonSchema } from './json-schemas';

/** What each group of routes is about. */
const TAGS: Readonly<Record<string, string>> = {
  budgets: 'Weekly caps, how they are used up, and what was spent',
  runs: 'One execution of an agent: start, watch, control, read',
  'bulk actions': 'The same thing done to every run that a filter finds',
  conversations: 'Dialogs whose turns are runs',
  agents: 'Definitions of agents and their versions',
  schedules: 'When agents will run by themselves',
  approvals: 'Calls that wait for a person, and what people decided',
  'permission rules': 'What agents may do without asking, and what they may not do at all',
  tasks: 'Work on the board: agents work it through in phases, people and agents edit it under locks',
  models: 'What models agents of the organization may use',
  tools: 'What tools agents of the organization may use',
  'platform prompt': 'The prompt ahead of every agent’s own',
  organization: 'The organization of the credential, and who the credential stands for',
  users: 'People of the organization',
  keys: 'API keys of people and applications',
  documents: 'What the API says about itself',
  knowledge: 'Documents that agents may look up, and who may read them',
  groups: 'Groups of people that documents are shared with',
};

/** Title, purpose and conventions of the API, said once. */
export const describeApi = (tags: readonly string[]): Record<string, unknown> => ({
  info: {
    title: 'Runyard',
    version: '1',
    description:
      'Runs AI agents for teams. Refusals are problem documents (RFC 9457). Lists are paged by opaque cursors. A change answers with the state it led to and its position in the log; a read with `at_least` waits briefly until it reflects that position. Every answer to a credential carries its rate in `RateLimit` and `RateLimit-Policy`.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  security: [{ bearer: [] }, { key: [] }],
  tags: tags.map((name) => ({ name, description: TAGS[name] ?? name })),
});

export const securitySchemes: Record<string, unknown> = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key (ry_live_…) or a token of the identity provider',
  },
  key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
};

/** The problem document. */
export const problemSchema = (codes: readonly string[]): JsonSchema => ({
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id', 'retryable'],
  properties: {
    type: { type: 'string', description: 'URL of the page of this problem' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string' },
    code: { type: 'string', enum: [...codes] },
    request_id: { type: 'string' },
    retryable: { type: 'boolean' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'detail'],
        properties: { pointer: { type: 'string' }, detail: { type: 'string' } },
      },
    },
  },
});
