import { COMMIT_CONTENT_TYPE } from '@runyard/contracts';
import type { JsonSchema } from './json-schema';

/** Title, purpose and conventions of the bus, said once. */
export const describeBus = (version: string): Record<string, unknown> => ({
  info: {
    title: 'Runyard on the bus',
    version,
    description:
      'What Runyard appends to NATS JetStream, and what other services may publish to it. A message of a context is a commit: a CloudEvents 1.0 batch with all events of one decision. Its place is `<stream sequence>.<index>`. Events change by addition, or by a new version with an upcaster; readers skip types and members that they do not know.',
    license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
  },
  defaultContentType: COMMIT_CONTENT_TYPE,
  servers: {
    bus: {
      host: 'localhost:4222',
      protocol: 'nats',
      description: 'A NATS server with JetStream, from 2.10.23 on; accounts and addresses are the operator’s',
    },
  },
});

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  description,
  ...more,
});

/** Headers by kind of message. */
export const HEADERS: Readonly<Record<'commit' | 'request' | 'dead', JsonSchema>> = {
  commit: {
    type: 'object',
    properties: {
      'Nats-Msg-Id': text('Id of the commit, random; reused only to send the same commit again'),
      'Nats-Expected-Last-Subject-Sequence': text('Sequence that the writer had read of the subject'),
      'Content-Type': { type: 'string', const: COMMIT_CONTENT_TYPE },
    },
  },
  request: {
    type: 'object',
    properties: {
      'Nats-Msg-Id': text('Random, one a publication; reused only to send the same message again'),
      'Runyard-Reply': text(
        'Subject on which the answer is awaited; without it a refusal goes to the dead letters',
      ),
    },
  },
  dead: {
    type: 'object',
    properties: {
      'Runyard-Dead-Stream': text('Queue that it came from'),
      'Runyard-Dead-Consumer': text('Who could not handle it'),
      'Runyard-Dead-Sequence': text('Its sequence there'),
      'Runyard-Dead-Subject': text('Its subject there'),
      'Runyard-Dead-Attempts': text('How often it was tried'),
      'Runyard-Dead-Reason': text('Why it was given up, percent-encoded'),
      'Runyard-Dead-First': text('When it was first stored', { format: 'date-time' }),
      'Runyard-Dead-Last': text('When it was given up', { format: 'date-time' }),
    },
  },
};

/** The envelope of every event. */
export const cloudEvent: JsonSchema = {
  description:
    'CloudEvents 1.0 in JSON; extension attributes are `org`, `actor`, `causationid`, `correlationid`, `traceparent`',
  type: 'object',
  required: [
    'specversion',
    'id',
    'source',
    'type',
    'subject',
    'time',
    'datacontenttype',
    'org',
    'actor',
    'data',
  ],
  properties: {
    specversion: { const: '1.0' },
    id: text('`<commit id>.<index>`'),
    source: text('The service that appended it'),
    type: text('`runyard.<EventName>.v<version>`', { pattern: '^runyard\\.[A-Z][A-Za-z]*\\.v[1-9][0-9]*$' }),
    subject: text('Id of the aggregate'),
    time: text('Never earlier than the previous event of the aggregate', { format: 'date-time' }),
    datacontenttype: { const: 'application/json' },
    org: text('Id of the organization'),
    actor: { $ref: '#/components/schemas/Actor' },
    causationid: text('Request or event that made this happen'),
    correlationid: text('Shared by everything that one request led to'),
    traceparent: text('W3C trace context'),
    data: { type: 'object' },
  },
};
