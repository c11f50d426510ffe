import type { Certainty, Stance } from './certainty';

/** What a path may mean beside its letters: a home, a variable, an escape of another system or another encoding. */
const UNSURE = /[\\\p{Cc}$`*?[\]{}]|^~|%(2e|2f|5c|00)|^[A-Za-z]:|^[a-z][a-z0-9+.-]*:\/\//iu;

/** A path without empty, `.` and `..` parts. `up`: how many directories it climbs above where a relative one starts. */
export interface PlainPath {
  absolute: boolean;
  up: number;
  parts: string[];
}

/** Reads a path by its letters alone; symbolic links are the file system's affair. */
export function plainPath(path: string): PlainPath {
  const absolute = path.startsWith('/');
  const parts: string[] = [];
  let up = 0;
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0) parts.pop();
    else if (!absolute) up++;
  }
  return { absolute, up, parts };
}

/**
 * Whether a path lies at or below one of the directories, by whole names: `/srv/data` holds `/srv/data/x` and not `/srv/database`.
 * A relative path and an absolute directory, or the other way round, cannot be compared: `no` for `strict`, `unknown` for `wary`.
 */
export function pathMatches(value: unknown, directories: readonly string[], stance: Stance): Certainty {
  const unsure = stance === 'strict' ? 'no' : 'unknown';
  if (typeof value !== 'string' || value === '' || UNSURE.test(value)) return unsure;
  const path = plainPath(value);
  const found = directories.map((directory) => liesIn(path, plainPath(directory)));
  if (found.includes('yes')) return 'yes';
  return found.includes('unknown') ? unsure : 'no';
}

function liesIn(path: PlainPath, directory: PlainPath): Certainty {
  if (path.absolute !== directory.absolute || path.up > 0) return 'unknown';
  return directory.parts.every((part, at) => path.parts[at] === part) ? 'yes' : 'no';
}
