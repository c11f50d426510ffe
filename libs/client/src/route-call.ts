import type { Operations } from './operations';
import type { CallOptions } from './transport';

/** A route by method and path: `GET /v1/runs/{run_id}`. */
export type Route = keyof Operations;
export type Answer<R extends Route> = Operations[R]['answer'];
export type Query<R extends Route> = Operations[R]['query'];
export type Body<R extends Route> = NonNullable<Operations[R]['body']>;

/** A member that must be given where the route has it, and cannot be where it has none. */
type Part<Name extends string, Value> = keyof Value extends never
  ? { [N in Name]?: undefined }
  : Partial<Value> extends Value
    ? { [N in Name]?: Value }
    : { [N in Name]: Value };

/** What a call of a route takes. */
export type Input<R extends Route> = CallOptions &
  Part<'path', Operations[R]['path']> &
  Part<'query', Operations[R]['query']> &
  Pick<Operations[R], 'body'>;

type Value = string | number | boolean | null | undefined;

/** The path of a call: parameters put in, query appended. Members that are undefined are left out. */
export function pathOf(
  template: string,
  parameters: Readonly<Record<string, Value>> = {},
  query: Readonly<Record<string, Value>> = {},
): string {
  const path = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(String(parameters[name])),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null) search.append(name, String(value));
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}
