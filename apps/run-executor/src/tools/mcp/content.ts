import { z } from 'zod';
import { digestOf } from '@runyard/event-log';
import { succeeded, toolError } from '../outcomes';
import type { ToolResult } from '../types';

/** Read leniently: an answer that we would refuse to read was carried out all the same. */
export const callResultSchema = z.looseObject({
  content: z.array(z.unknown()).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
export type CallResult = z.output<typeof callResultSchema>;

/** What a server answered, as text for a model. What is not text is named with its kind and size. */
export function resultOf({ content = [], structuredContent, isError }: CallResult): ToolResult {
  const blocks = content.map(blockText);
  const structured =
    structuredContent === undefined || repeats(blocks, structuredContent)
      ? []
      : [JSON.stringify(structuredContent)];
  const all = [...blocks, ...structured];
  // An empty text is an answer; only where there is nothing at all the model is told so.
  const text = all.length === 0 ? '(no content)' : all.join('\n');
  return isError === true ? toolError(text) : succeeded(text);
}

function blockText(block: unknown): string {
  const { type, text, mimeType, data, resource, uri, name } = record(block);
  if (type === 'text') return word(text);
  if (type === 'image' || type === 'audio')
    return `[${type} ${word(mimeType)}, ${decodedSize(data)} bytes, not shown]`;
  if (type === 'resource') return resourceText(record(resource));
  if (type === 'resource_link') return `[link to resource ${word(name)} ${word(uri)}]`;
  return `[content of kind ${JSON.stringify(type ?? null)}, not shown]`;
}

function resourceText({ uri, mimeType, text, blob }: Record<string, unknown>): string {
  if (typeof text === 'string') return `[resource ${word(uri)}]\n${text}`;
  return `[resource ${word(uri)}, ${word(mimeType) || 'unknown kind'}, ${decodedSize(blob)} bytes, not shown]`;
}

const word = (value: unknown): string => (typeof value === 'string' ? value : '');

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const decodedSize = (base64: unknown): number =>
  typeof base64 === 'string' ? Buffer.byteLength(base64, 'base64') : 0;

/** Servers are asked to send structured content as text too; the model need not read it twice. */
function repeats(blocks: readonly string[], structured: unknown): boolean {
  const digest = digestOf(structured);
  return blocks.some((text) => {
    if (!/^\s*[{[]/.test(text)) return false;
    try {
      return digestOf(JSON.parse(text)) === digest;
    } catch {
      return false;
    }
  });
}
