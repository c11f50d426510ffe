export interface JsonEnd {
  /** Deepest nesting of brackets. */
  depth: number;
  /** The text ends inside a string or with brackets open: it stopped before it was complete. */
  open: boolean;
}

/** How a text that should be JSON ends, in one pass and without recursion. */
export function endOf(text: string): JsonEnd {
  let [depth, deepest, inString] = [0, 0, false];
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (inString) {
      if (char === '\\') i += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{' || char === '[') deepest = Math.max(deepest, (depth += 1));
    else if (char === '}' || char === ']') depth -= 1;
  }
  return { depth: deepest, open: inString || depth > 0 };
}
