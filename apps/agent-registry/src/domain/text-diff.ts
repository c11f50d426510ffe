import type { DiffPart } from '@runyard/contracts';

/** Most pairs of lines that are compared; beyond, what lies between equal beginnings and ends counts as replaced. */
const MOST_PAIRS = 1_000_000;

/** The lines of two texts in order: those that both have, and those that one of them has. Bounded work. */
export function diffLines(before: string, after: string): DiffPart[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = between(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return joined([part('same', a.slice(0, start)), ...middle, part('same', a.slice(a.length - end))]);
}

const part = (kind: DiffPart['kind'], lines: string[]): DiffPart => ({ kind, lines });

function between(a: string[], b: string[]): DiffPart[] {
  if (a.length * b.length > MOST_PAIRS) return [part('removed', a), part('added', b)];
  const common = commonLengths(a, b);
  const at = (i: number, j: number): number => common[i * (b.length + 1) + j] ?? 0;
  const parts: DiffPart[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      parts.push(part('same', [left]));
      i++;
      j++;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      parts.push(part('removed', [left]));
      i++;
    } else {
      parts.push(part('added', [right ?? '']));
      j++;
    }
  }
  return parts;
}

/** Lengths of the longest common subsequences of all pairs of tails. */
function commonLengths(a: string[], b: string[]): Uint32Array {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
  return lengths;
}

function joined(parts: DiffPart[]): DiffPart[] {
  const whole: DiffPart[] = [];
  for (const { kind, lines } of parts) {
    const last = whole.at(-1);
    if (last?.kind === kind) last.lines.push(...lines);
    else if (lines.length) whole.push(part(kind, [...lines]));
  }
  return whole;
}
