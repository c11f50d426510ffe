import { fieldsOf, listOf, parseJson, textOf, type Fields } from './wire-json';

/** For specs only: what the strictest endpoints refuse. Each returns the first fault, or null. */
export type Validator = (body: Fields) => string | null;

const ID = /^[A-Za-z0-9_-]+$/;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export const strictOpenAi: Validator = (body) => {
  const seen = new Set<string>();
  let awaited: string[] = [];
  const messages = listOf(body['messages']).map((message) => fieldsOf(message) ?? {});
  for (const message of messages) {
    const { role, content } = message;
    if (role === 'tool') {
      if (message['tool_call_id'] !== awaited.shift()) return 'a result without its call, or out of order';
      if (typeof content !== 'string') return 'a result that is no text';
      continue;
    }
    if (awaited.length > 0) return `no result for ${awaited.join()}`;
    const calls = listOf(message['tool_calls']).map((call) => fieldsOf(call) ?? {});
    if (message['tool_calls'] !== undefined && calls.length === 0) return 'an empty list of calls';
    if (content !== null && (typeof content !== 'string' || content === ''))
      return `an empty text of role ${String(role)}`;
    if (content === null && calls.length === 0) return 'a message without content';
    awaited = calls.map((call) => textOf(call['id']) ?? '');
    const fault = calls.map((call) => callFault(call, seen)).find((found) => found !== null);
    if (fault) return fault;
  }
  if (awaited.length > 0) return `no result for ${awaited.join()}`;
  return messages.at(-1)?.['role'] === 'assistant' ? 'nothing to answer' : textFault(body);
};

function callFault(call: Fields, seen: Set<string>): string | null {
  const called = fieldsOf(call['function']) ?? {};
  const args = textOf(called['arguments']);
  if (args === null || !fieldsOf(parseJson(args))) return `arguments that are no object: ${args}`;
  return idFault(textOf(call['id']) ?? '', seen) ?? nameFault(called['name']);
}

export const strictAnthropic: Validator = (body) => {
  const seen = new Set<string>();
  let awaited: string[] = [];
  let before = 'assistant';
  for (const value of listOf(body['messages'])) {
    const message = fieldsOf(value) ?? {};
    if (message['role'] === before) return `two messages of role ${before}`;
    before = String(message['role']);
    const blocks = listOf(message['content']).map((block) => fieldsOf(block) ?? {});
    if (blocks.length === 0) return 'a message without content';
    const results = blocks
      .filter((block) => block['type'] === 'tool_result')
      .map((block) => block['tool_use_id']);
    if (results.join() !== awaited.join()) return `results ${results.join()} for calls ${awaited.join()}`;
    if (blocks.slice(0, results.length).some((block) => block['type'] !== 'tool_result'))
      return 'results not at the start';
    const fault = blocks.map((block) => blockFault(block, seen)).find((found) => found !== null);
    if (fault) return fault;
    awaited = blocks.filter((block) => block['type'] === 'tool_use').map((block) => String(block['id']));
  }
  return before === 'user' && awaited.length === 0 ? textFault(body) : 'nothing to answer';
};

function blockFault(block: Fields, seen: Set<string>): string | null {
  if (block['type'] === 'text' && (textOf(block['text']) ?? '').trim() === '') return 'a blank text block';
  if (block['type'] === 'tool_result' && block['content'] === '') return 'a blank result';
  if (block['type'] !== 'tool_use') return null;
  if (!fieldsOf(block['input'])) return 'arguments that are no object';
  return idFault(String(block['id']), seen) ?? nameFault(block['name']);
}

function idFault(id: string, seen: Set<string>): string | null {
  if (!ID.test(id) || seen.has(id)) return `the id "${id}"`;
  seen.add(id);
  return null;
}

const nameFault = (name: unknown): string | null =>
  NAME.test(String(name)) ? null : `the tool name "${String(name)}"`;

/** Half a character or NUL anywhere in the request; a raw body shows them only as escapes. */
function textFault(value: unknown): string | null {
  if (typeof value === 'string')
    return /\p{Surrogate}|\0/u.test(value) ? 'a text with half a character or NUL' : null;
  const inside = Array.isArray(value) ? value : Object.values(fieldsOf(value) ?? {});
  return inside.map(textFault).find((fault) => fault !== null) ?? null;
}
