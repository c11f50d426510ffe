import { alternativesOf, valuesOf } from './alternatives';
import type { Alternative, SchemaDocument } from './alternatives';
import type { JsonSchema } from './json-schema';
import { limitBreaks } from './limit-breaks';

/** Something that others relied on and that is no longer so. */
export interface Break {
  at: string;
  what: string;
}

/**
 * Who writes what a schema describes. `in`: others do, so nothing may be refused that was accepted. `out`: we do, so nothing
 * may be missing, or of a type that nobody had to expect. `kept`: we do, and read it again years later; both must hold.
 */
export type Direction = 'in' | 'out' | 'kept';

export interface Change {
  before: SchemaDocument;
  after: SchemaDocument;
  direction: Direction;
}

/** What breaks between two schemas. New enum values, members and alternatives do not: readers skip what they do not know. */
export function schemaBreaks(
  before: JsonSchema,
  after: JsonSchema,
  change: Change,
  at: string,
  seen: ReadonlySet<string> = new Set(),
): Break[] {
  const pair = `${before.$ref ?? ''}>${after.$ref ?? ''}`;
  if (pair !== '>' && seen.has(pair)) return [];
  const known = new Set([...seen, pair]);
  const olds = alternativesOf(before, change.before);
  const news = alternativesOf(after, change.after);
  const compare = (old: Alternative, now: Alternative, where: string): Break[] => [
    ...limitBreaks(old.schema, now.schema, change.direction, where),
    ...memberBreaks(old.schema, now.schema, change, where, known),
  ];
  return [
    ...typeBreaks(olds, news, change.direction, at),
    ...valueBreaks(olds, news, change.direction, at),
    ...pairsOf(olds, news).flatMap(({ old, now }) => {
      const where = olds.length > 1 && old.name !== undefined ? `${at}<${old.name}>` : at;
      return now ? compare(old, now, where) : [{ at: where, what: 'this alternative is gone' }];
    }),
  ];
}

const takes = (types: ReadonlySet<string>, type: string): boolean =>
  types.has('any') || types.has(type) || (type === 'integer' && types.has('number'));

function typeBreaks(olds: Alternative[], news: Alternative[], direction: Direction, at: string): Break[] {
  const [before, after] = [olds, news].map((list) => new Set(list.map(({ type }) => type)));
  if (!before || !after) return [];
  const narrowed = direction === 'out' ? [] : [...before].filter((type) => !takes(after, type));
  const widened = direction === 'in' ? [] : [...after].filter((type) => !takes(before, type));
  return [
    ...narrowed.map((type) => ({ at, what: `can no longer be ${type}` })),
    ...widened.map((type) => ({ at, what: `can now be ${type}` })),
  ];
}

/** Scalars together: a value may move from one alternative to another. */
function valueBreaks(olds: Alternative[], news: Alternative[], direction: Direction, at: string): Break[] {
  const listed = (list: Alternative[]) => {
    const scalars = list.filter(({ type }) => type !== 'object' && type !== 'array' && type !== 'null');
    const values = scalars.map(({ schema }) => valuesOf(schema));
    return values.length > 0 && values.every((some) => some)
      ? values.flatMap((some) => some ?? [])
      : undefined;
  };
  const [before, after] = [listed(olds), listed(news)];
  if (!after) return [];
  if (!before) {
    const free = olds.some(({ type }) => type === 'string' || type === 'any');
    return free && direction !== 'out' ? [{ at, what: `is now one of ${after.join(', ')}` }] : [];
  }
  return before
    .filter((value) => !after.includes(value))
    .map((value) => ({ at, what: `the value ${JSON.stringify(value)} is gone` }));
}

/** Which new alternative stands for an old one: of its type, not marked otherwise, and most like it. */
function pairsOf(
  olds: Alternative[],
  news: Alternative[],
): { old: Alternative; now: Alternative | undefined }[] {
  return olds
    .filter(({ type }) => news.some((now) => now.type === type))
    .map((old) => {
      const only = olds.filter(({ type }) => type === old.type).length === 1;
      const candidates = news.filter(
        (now) => now.type === old.type && (only || !differs(old.schema, now.schema)),
      );
      const [best] = candidates.sort((a, b) => likeness(old, b) - likeness(old, a));
      return { old, now: best };
    });
}

/** True where a member that tells alternatives apart has other values. */
function differs(before: JsonSchema, after: JsonSchema): boolean {
  return Object.entries(before.properties ?? {}).some(([name, member]) => {
    const [old, now] = [valuesOf(member), valuesOf(after.properties?.[name] ?? {})];
    return old !== undefined && now !== undefined && !old.some((value) => now.includes(value));
  });
}

function likeness(old: Alternative, { schema }: Alternative): number {
  const members = new Set(Object.keys(old.schema.properties ?? {}));
  const others = Object.keys(schema.properties ?? {});
  const shared = others.filter((name) => members.has(name)).length;
  return shared * 2 - others.length;
}

function memberBreaks(
  before: JsonSchema,
  after: JsonSchema,
  change: Change,
  at: string,
  seen: ReadonlySet<string>,
): Break[] {
  const [had, has] = [new Set(before.required), new Set(after.required)];
  const found = Object.entries(before.properties ?? {}).flatMap(([name, member]) => {
    const now = after.properties?.[name];
    const where = `${at}.${name}`;
    if (!now) return [{ at: where, what: 'is gone' }];
    const loose = change.direction !== 'in' && had.has(name) && !has.has(name);
    return [
      ...(loose ? [{ at: where, what: 'may now be missing' }] : []),
      ...schemaBreaks(member, now, change, where, seen),
    ];
  });
  const demanded = change.direction === 'out' ? [] : [...has].filter((name) => !had.has(name));
  const items =
    before.items && after.items ? schemaBreaks(before.items, after.items, change, `${at}[]`, seen) : [];
  return [...found, ...demanded.map((name) => ({ at: `${at}.${name}`, what: 'is now required' })), ...items];
}
