import type { Json } from '../json';
import { sameJson } from './argument-condition';
import type { ArgumentChange } from './approval.requests';

/** What a reviewer changed, place by place; an array that differs is one change. */
export function argumentChanges(proposed: Json, edited: Json, at = ''): ArgumentChange[] {
  if (sameJson(proposed, edited)) return [];
  if (!isObject(proposed) || !isObject(edited)) return [{ pointer: at, proposed, edited }];
  const names = [...new Set([...Object.keys(proposed), ...Object.keys(edited)])];
  return names.flatMap((name) => {
    const pointer = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const [before, after] = [proposed[name], edited[name]];
    if (before === undefined || !Object.hasOwn(proposed, name)) return [{ pointer, edited: after }];
    if (after === undefined || !Object.hasOwn(edited, name)) return [{ pointer, proposed: before }];
    return argumentChanges(before, after, pointer);
  });
}

const isObject = (value: Json): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
