import { COMMIT_CONTENT_TYPE } from '@runyard/contracts';
import { lookUp } from './alternatives';
import type { SchemaDocument } from './alternatives';
import type { JsonSchema } from './json-schema';
import { schemaBreaks } from './schema-breaks';
import type { Break, Direction } from './schema-breaks';

interface Channel {
  address: string | null;
  messages: Record<string, { $ref: string }>;
  'x-jetstream'?: { stream: string };
}
interface Operation {
  action: 'send' | 'receive';
  channel: { $ref: string };
  reply?: { channel: { $ref: string } };
}
interface Message {
  contentType?: string;
  payload?: JsonSchema;
}

/** What breaks on the bus between two descriptions of it: for readers of events, for publishers, and for our own logs. */
export function asyncApiBreaks(before: SchemaDocument, after: SchemaDocument): Break[] {
  const [olds, news] = [before, after].map((one) => (one.channels ?? {}) as Record<string, Channel>);
  return Object.entries(olds ?? {}).flatMap(([name, old]) => {
    const now = news?.[name];
    if (!now) return [{ at: name, what: 'is gone' }];
    const direction = directionOf(name, before);
    return [
      ...placeBreaks(name, old, now),
      ...Object.entries(old.messages).flatMap(([message, reference]) => {
        const next = now.messages[message];
        if (!next) return [{ at: `${name} ${message}`, what: 'is gone' }];
        const [was, is] = [messageAt(before, reference.$ref), messageAt(after, next.$ref)];
        const kept = direction === 'out' && was.contentType === COMMIT_CONTENT_TYPE;
        const change = { before, after, direction: kept ? ('kept' as const) : direction };
        return schemaBreaks(was.payload ?? {}, is.payload ?? {}, change, `${name}`);
      }),
    ];
  });
}

const messageAt = (document: SchemaDocument, reference: string): Message =>
  (lookUp(document, reference) ?? {}) as Message;

function placeBreaks(at: string, old: Channel, now: Channel): Break[] {
  const moved = old.address !== now.address;
  const [from, to] = [old['x-jetstream']?.stream, now['x-jetstream']?.stream];
  return [
    ...(moved ? [{ at, what: `is now at ${now.address ?? 'no address'}` }] : []),
    ...(from === to ? [] : [{ at, what: `is now in the stream ${to ?? 'none'}` }]),
  ];
}

/** What we receive others write; everything else is ours. */
function directionOf(channel: string, document: SchemaDocument): Direction {
  const operations = Object.values((document.operations ?? {}) as Record<string, Operation>);
  const received = operations.some(
    ({ action, channel: { $ref } }) => action === 'receive' && $ref === `#/channels/${channel}`,
  );
  return received ? 'in' : 'out';
}
