import { execFileSync } from 'node:child_process';
import path from 'node:path';
import type { JsonSchema } from './json-schema';

export interface ReadType {
  /** The type's doc comment. */
  description?: string;
  schema: JsonSchema;
}

export interface ReadTypes {
  types: Record<string, ReadType>;
  /** Types that those refer to. */
  definitions: Record<string, JsonSchema>;
}

const SCRIPT = 'tools/contracts/event-schemas.mjs';

/** Schemas of exported types of the contracts, with references into `components.schemas`. Takes seconds. */
export function readTypes(root: string, names: readonly string[]): ReadTypes {
  const text = execFileSync(process.execPath, [path.join(root, SCRIPT), ...names], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  return JSON.parse(
    text
      .replaceAll('"#/definitions/', '"#/components/schemas/')
      // Doc comments point at code; a document has none.
      .replaceAll(/ ?\{@link\s+([\w.]+)\s*\} ?/g, ' `$1` ')
      .replaceAll(/` ([,.;:)])/g, '`$1'),
  ) as ReadTypes;
}
