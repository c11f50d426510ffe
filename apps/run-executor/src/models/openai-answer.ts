import { malformed, wireError, type AnswerContent, type AnswerReader, type WireError } from './answer';
import { CallAssembly } from './openai-calls';
import { openAiUsage, type ReportedUsage } from './token-usage';
import type { ModelTurn } from './types';
import { fieldsOf, listOf, textOf, type Fields } from './wire-json';

const FINISHES: Readonly<Record<string, ModelTurn['finish']>> = {
  stop: 'stop',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  length: 'length',
  content_filter: 'content_filter',
  refusal: 'refusal',
};

/** Reads answers of chat-completions endpoints, streamed or whole. */
export class OpenAiAnswer implements AnswerReader {
  private readonly texts: string[] = [];
  private sentText = false;
  private refused = false;
  private readonly reasonings: string[] = [];
  private reasoningField = '';
  private readonly details: Fields[] = [];
  private readonly calls = new CallAssembly();
  private reason: string | null = null;
  private textBytes = 0;
  model = '';
  usage: ReportedUsage | null = null;
  /** The usage event comes after the finish reason, so only the end of the stream closes an answer. */
  readonly closed = false;

  get finished(): boolean {
    return this.reason !== null;
  }

  get text(): string | null {
    return this.sentText ? this.texts.join('') : null;
  }

  get deliveredBytes(): number {
    return this.textBytes + this.calls.bytes;
  }

  takeEvent(payload: unknown): WireError | null {
    const chunk = fieldsOf(payload);
    if (!chunk) return malformed('An event of the stream is not a JSON object.');
    if (chunk['error'] != null) return wireError(chunk['error']);
    this.takeFrame(chunk);
    const choice = fieldsOf(listOf(chunk['choices'])[0]);
    if (!choice) return null;
    if (choice['error'] != null) return wireError(choice['error']);
    this.takeMessage(fieldsOf(choice['delta']) ?? fieldsOf(choice['message']));
    const reason = textOf(choice['finish_reason']);
    if (reason === 'error')
      return { type: 'server_error', message: 'The provider broke off its answer.', status: null };
    this.reason = reason ?? this.reason;
    return null;
  }

  takeWhole(payload: unknown): WireError | null {
    const body = fieldsOf(payload);
    const choice = fieldsOf(listOf(body?.['choices'])[0]);
    if (body?.['error'] != null) return wireError(body['error']);
    if (!fieldsOf(choice?.['message'])) return malformed('The answer is not a chat completion.');
    const error = this.takeEvent(payload);
    // A body of known length is complete, also where a vendor leaves the reason out.
    this.reason ??= '';
    return error;
  }

  content(): AnswerContent {
    const toolCalls = this.calls.finished();
    const reason = this.reason ?? '';
    const finish = (Object.hasOwn(FINISHES, reason) && FINISHES[reason]) || 'other';
    return {
      text: this.text,
      reasoning: this.reasonings.length > 0 ? this.reasonings.join('') : null,
      toolCalls,
      providerReason: reason,
      // OpenAI reports a refusal as a finished answer ("stop") whose refusal field is set.
      finish: this.refused && finish === 'stop' && toolCalls.length === 0 ? 'refusal' : finish,
    };
  }

  /** Only turns with calls need their reasoning back; the first DeepSeek models even refuse it with others. */
  state(): object | null {
    const calls = this.calls.extras();
    if (this.calls.bytes === 0) return null;
    const message: Record<string, unknown> = {};
    if (this.reasonings.length > 0) message[this.reasoningField] = this.reasonings.join('');
    if (this.details.length > 0) message['reasoning_details'] = this.details;
    return calls || Object.keys(message).length > 0 ? { message, calls: calls ?? [] } : null;
  }

  private takeFrame(chunk: Fields): void {
    this.model = textOf(chunk['model']) || this.model;
    this.usage =
      openAiUsage(chunk['usage']) ?? openAiUsage(fieldsOf(chunk['x_groq'])?.['usage']) ?? this.usage;
  }

  private takeMessage(message: Fields | null): void {
    if (!message) return;
    this.takeReasoning(message);
    const content = message['content'];
    if (typeof content === 'string') this.addText(content);
    else for (const part of listOf(content)) this.takePart(fieldsOf(part));
    const refusal = textOf(message['refusal']);
    if (refusal) {
      this.refused = true;
      this.addText(refusal);
    }
    for (const call of listOf(message['tool_calls'])) this.calls.take(call);
    if (fieldsOf(message['function_call'])) this.calls.take({ index: 0, function: message['function_call'] });
  }

  private takeReasoning(message: Fields): void {
    const field = textOf(message['reasoning_content']) === null ? 'reasoning' : 'reasoning_content';
    const reasoning = textOf(message[field]);
    if (reasoning) {
      this.reasoningField ||= field;
      this.addReasoning(reasoning);
    }
    for (const detail of listOf(message['reasoning_details'])) this.takeDetail(fieldsOf(detail));
  }

  /** Content as a list of parts (Mistral): texts, and thoughts that are lists of texts themselves. */
  private takePart(part: Fields | null): void {
    if (part?.['type'] === 'text') this.addText(textOf(part['text']) ?? '');
    if (part?.['type'] !== 'thinking') return;
    for (const thought of listOf(part['thinking']))
      this.addReasoning(textOf(fieldsOf(thought)?.['text']) ?? '');
  }

  /** Parts of one reasoning block follow each other; the provider wants them back as one block (OpenRouter). */
  private takeDetail(detail: Fields | null): void {
    if (!detail) return;
    const last = this.details.at(-1);
    const continues = last && last['type'] === detail['type'] && last['index'] === detail['index'];
    if (!last || !continues || detail['index'] === undefined) this.details.push(detail);
    else this.details[this.details.length - 1] = joined(last, detail);
  }

  private addText(text: string): void {
    this.sentText = true;
    this.texts.push(text);
    this.textBytes += Buffer.byteLength(text);
  }

  private addReasoning(text: string): void {
    this.reasonings.push(text);
    this.textBytes += Buffer.byteLength(text);
  }
}

function joined(before: Fields, after: Fields): Fields {
  const result: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(after)) {
    const known = before[name];
    const grows =
      ['text', 'summary', 'data'].includes(name) && typeof known === 'string' && typeof value === 'string';
    if (grows) result[name] = known + value;
    else if (value != null) result[name] = value;
  }
  return result;
}
