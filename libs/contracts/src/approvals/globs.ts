/** Whether `text` is what `pattern` names; `*` stands for any characters, none included. Linear: no pattern can make it slow. */
export function globMatches(pattern: string, text: string): boolean {
  const [head = '', ...parts] = pattern.split('*');
  if (parts.length === 0) return pattern === text;
  const tail = parts.pop() ?? '';
  if (text.length < head.length + tail.length || !text.startsWith(head) || !text.endsWith(tail)) return false;
  let at = head.length;
  for (const part of parts) {
    const next = text.indexOf(part, at);
    if (next < 0 || next + part.length > text.length - tail.length) return false;
    at = next + part.length;
  }
  return true;
}

/** How much a pattern says: an exact name more than any pattern, a pattern by the characters that it fixes. */
export function exactness(pattern: string): number {
  const fixed = pattern.replaceAll('*', '').length;
  return fixed === pattern.length ? Number.MAX_SAFE_INTEGER : fixed;
}
