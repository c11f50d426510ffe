/** A connection keeps its statements until it ends; texts that are put together anew each time must not fill it. */
const MOST = 500;

const names = new Map<string, string>();

/** Name under which a connection keeps a statement, the same for the same text; undefined for one too many. */
export function statementName(sql: string): string | undefined {
  const known = names.get(sql);
  if (known !== undefined || names.size >= MOST) return known;
  const name = `s${names.size}`;
  names.set(sql, name);
  return name;
}
