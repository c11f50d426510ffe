import { COMMIT_CONTENT_TYPE, CONTEXT_STREAMS, currentVersion, eventType } from '@runyard/contracts';
import type { Context } from '@runyard/contracts';
import { cloudEvent, describeBus, HEADERS } from './asyncapi-texts';
import { queueParts } from './asyncapi-queues';
import type { ContextFacts } from './event-tables';
import type { JsonSchema } from './json-schema';
import type { ReadTypes } from './read-types';
import { jetstreamFacts } from './stream-facts';

export interface DescribedContext extends ContextFacts {
  context: Context;
  events: readonly string[];
}

/** Types of the contracts, besides events, that the description needs. */
export const OTHER_TYPES = ['IntakeAnswer'] as const;

const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** AsyncAPI 3 of what lies on the bus for other services: events by context, run requests with their answers, dead letters. */
export function asyncApi(
  version: string,
  contexts: readonly DescribedContext[],
  read: ReadTypes,
): Record<string, unknown> {
  const queues = queueParts(read);
  return {
    asyncapi: '3.0.0',
    ...describeBus(version),
    channels: { ...byName(contexts, channelOf), ...queues.channels },
    operations: {
      ...Object.fromEntries(contexts.map((one) => [`send_${one.context}`, operationOf(one)])),
      ...queues.operations,
    },
    components: {
      schemas: {
        ...eventSchemas(contexts, read),
        CloudEvent: cloudEvent,
        ...sorted(read.definitions),
        ...queues.schemas,
      },
      messages: { ...byName(contexts, messageOf), ...queues.messages },
    },
  };
}

const byName = (contexts: readonly DescribedContext[], part: (one: DescribedContext) => unknown) =>
  Object.fromEntries(contexts.map((one) => [one.context, part(one)]));

const sorted = (schemas: Record<string, JsonSchema>): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));

function channelOf({ context, aggregate, meaning, service }: DescribedContext): Record<string, unknown> {
  return {
    address: ['runyard', context, '{slot}', '{org}', '{id}'].join('.'),
    title: `Events of ${context}`,
    description: `${meaning}. One subject is ${aggregate}; appended by ${service}.`,
    parameters: {
      slot: { description: 'Hash of the id, 0 to 15: `*` in a filter' },
      org: { description: 'Id of the organization' },
      id: { description: `Id of the aggregate: ${aggregate}` },
    },
    messages: { [context]: { $ref: `#/components/messages/${context}` } },
    'x-jetstream': jetstreamFacts(CONTEXT_STREAMS[context]),
  };
}

function operationOf({ context, service }: DescribedContext): Record<string, unknown> {
  return {
    action: 'send',
    title: `Commits of ${context}`,
    summary: `${service} appends one message a decision; consumers read in order and keep their own position`,
    channel: { $ref: `#/channels/${context}` },
    messages: [{ $ref: `#/channels/${context}/messages/${context}` }],
  };
}

function messageOf({ context, events }: DescribedContext): Record<string, unknown> {
  return {
    name: `${context}.commit`,
    title: `A decision about ${context}`,
    summary: 'All events of one decision, as a CloudEvents batch: they hold together or not at all',
    contentType: COMMIT_CONTENT_TYPE,
    headers: HEADERS.commit,
    payload: { type: 'array', minItems: 1, items: { oneOf: events.map(schemaRef) } },
  };
}

/** One schema an event: the envelope, with the event's own type and data. */
function eventSchemas(contexts: readonly DescribedContext[], read: ReadTypes): Record<string, JsonSchema> {
  const names = contexts.flatMap(({ events }) => events);
  return Object.fromEntries(names.map((name) => [name, eventSchema(name, read)]));
}

function eventSchema(name: string, read: ReadTypes): JsonSchema {
  const found = read.types[name];
  const data = found?.schema.properties?.data;
  if (!found || !data) throw new Error(`The contracts export no type ${name} with data`);
  return {
    ...(found.description === undefined ? {} : { description: found.description }),
    allOf: [
      schemaRef('CloudEvent'),
      {
        type: 'object',
        required: ['type', 'data'],
        properties: { type: { const: eventType(name, currentVersion(name)) }, data },
      },
    ],
  };
}
