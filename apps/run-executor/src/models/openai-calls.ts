import { callBytes } from './token-usage';
import type { ModelTurn } from './types';
import { fieldsOf, parseJson, textOf, type Fields } from './wire-json';

interface OpenCall {
  id: string;
  tool: string;
  pieces: string[];
  /** Vendor data that must go back with the call (thought signatures of Gemini's endpoint). */
  extra: unknown;
}

/**
 * Puts tool calls together from their parts. Parts belong together by `index`; a part without index continues the last
 * call unless it names a tool. Ids are data only: they repeat, change from part to part, or are missing (C18).
 */
export class CallAssembly {
  private readonly calls: OpenCall[] = [];
  private readonly byIndex = new Map<number, OpenCall>();
  bytes = 0;

  take(value: unknown): void {
    const part = fieldsOf(value);
    if (!part) return;
    const called = fieldsOf(part['function']) ?? {};
    const call = this.callOf(part, textOf(called['name']) ?? '');
    const name = textOf(called['name']);
    if (name && call.tool === '') call.tool = name;
    if (call.id === '') call.id = textOf(part['id']) ?? '';
    const args = argumentsOf(called['arguments']);
    if (args !== '') call.pieces.push(args);
    call.extra = part['extra_content'] ?? call.extra;
    this.bytes += args.length > 0 || name ? callBytes(name ?? '', args) : 0;
  }

  finished(): ModelTurn['toolCalls'] {
    return this.calls.map((call) => ({
      providerCallId: call.id,
      tool: call.tool,
      arguments: call.pieces.join(''),
    }));
  }

  /** Vendor data per call, in call order; null when no call has any. */
  extras(): unknown[] | null {
    return this.calls.some((call) => call.extra != null)
      ? this.calls.map((call) => call.extra ?? null)
      : null;
  }

  private callOf(part: Fields, name: string): OpenCall {
    const index = typeof part['index'] === 'number' ? part['index'] : null;
    const known = index === null ? this.calls.at(-1) : this.byIndex.get(index);
    if (known && !startsAnother(known, part, name, index)) return known;
    const call: OpenCall = { id: '', tool: '', pieces: [], extra: null };
    this.calls.push(call);
    if (index !== null) this.byIndex.set(index, call);
    return call;
  }
}

/**
 * Without an index a named part is a new call. With one it is a new call only where a vendor numbers every call 0: another
 * id and a name, while the call before is whole. (Ids that rotate within one call come while its arguments are not.)
 */
function startsAnother(known: OpenCall, part: Fields, name: string, index: number | null): boolean {
  if (name === '' || known.tool === '') return false;
  if (index === null) return true;
  const id = textOf(part['id']) ?? '';
  return id !== '' && id !== known.id && fieldsOf(parseJson(known.pieces.join(''))) !== null;
}

/** The text as sent; a vendor that sends an object instead of a text gets it written out. */
function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
