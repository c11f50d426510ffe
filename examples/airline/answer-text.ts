/** A value as JSON text with a space after each comma and colon, and everything beyond ASCII escaped. */
export function answerText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(answerText).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${quoted(name)}: ${answerText(member)}`);
    return `{${members.join(', ')}}`;
  }
  return typeof value === 'string' ? quoted(value) : JSON.stringify(value);
}

const quoted = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
