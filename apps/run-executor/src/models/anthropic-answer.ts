import { malformed, wireError, type AnswerContent, type AnswerReader, type WireError } from './answer';
import { anthropicUsage, callBytes, type ReportedUsage } from './token-usage';
import type { ModelTurn } from './types';
import { fieldsOf, listOf, textOf, type Fields } from './wire-json';

/** Reasons with a meaning of ours; others (`pause_turn`, `model_context_window_exceeded`, …) are `other` (C19). */
const FINISHES: Readonly<Record<string, ModelTurn['finish']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  refusal: 'refusal',
};

interface Block {
  type: string;
  /** Parts of the text, thought or arguments. */
  pieces: string[];
  id: string;
  name: string;
  /** Arguments that came with the block's start instead of as parts; '' for none. */
  input: string;
  signature: string;
  data: string;
}

/** A content block as it is kept to go back: thoughts whole, texts by length, calls by their place among the calls. */
export type StateBlock =
  | { thinking: string; signature: string }
  | { redacted: string }
  | { text: number }
  | { call: number };

/** Reads answers of Anthropic's messages endpoint, streamed or whole. */
export class AnthropicAnswer implements AnswerReader {
  private readonly blocks = new Map<number, Block>();
  private messageId: string | null = null;
  private reason = '';
  private whole = false;
  finished = false;
  model = '';
  usage: ReportedUsage | null = null;
  deliveredBytes = 0;

  get closed(): boolean {
    return this.finished;
  }

  get text(): string | null {
    const texts = this.ofType('text');
    return texts.length > 0 ? texts.map((block) => block.pieces.join('')).join('') : null;
  }

  takeEvent(payload: unknown): WireError | null {
    const event = fieldsOf(payload);
    if (!event) return malformed('An event of the stream is not a JSON object.');
    switch (event['type']) {
      case 'message_start':
        return this.start(fieldsOf(event['message']));
      case 'content_block_start':
        this.startBlock(event['index'], fieldsOf(event['content_block']));
        return null;
      case 'content_block_delta':
        return this.grow(event['index'], fieldsOf(event['delta']));
      case 'message_delta':
        this.reason = textOf(fieldsOf(event['delta'])?.['stop_reason']) ?? this.reason;
        this.usage = anthropicUsage(this.usage, event['usage']);
        return null;
      case 'message_stop':
        this.finished = true;
        return null;
      default:
        // Pings and kinds of events that came later than this reader are no content.
        return event['error'] != null ? wireError(event['error']) : null;
    }
  }

  takeWhole(payload: unknown): WireError | null {
    const message = fieldsOf(payload);
    if (message?.['error'] != null) return wireError(message['error']);
    if (!Array.isArray(message?.['content'])) return malformed('The answer is not a message.');
    this.whole = true;
    this.start(message);
    this.reason = textOf(message['stop_reason']) ?? '';
    this.finished = true;
    return null;
  }

  content(): AnswerContent {
    const thoughts = this.ofType('thinking');
    return {
      text: this.text,
      reasoning: thoughts.length > 0 ? thoughts.map((block) => block.pieces.join('')).join('') : null,
      toolCalls: this.ofType('tool_use').map((block) => ({
        providerCallId: block.id,
        tool: block.name,
        arguments: block.pieces.length > 0 ? block.pieces.join('') : block.input,
      })),
      providerReason: this.reason,
      finish: (Object.hasOwn(FINISHES, this.reason) && FINISHES[this.reason]) || 'other',
    };
  }

  /** Thoughts carry signatures over their place, so the order of all blocks is kept with them. */
  state(): object | null {
    if (this.ofType('thinking').length + this.ofType('redacted_thinking').length === 0) return null;
    const blocks: StateBlock[] = [];
    let calls = 0;
    for (const block of this.blocks.values()) {
      if (block.type === 'thinking')
        blocks.push({ thinking: block.pieces.join(''), signature: block.signature });
      else if (block.type === 'redacted_thinking') blocks.push({ redacted: block.data });
      else if (block.type === 'text') blocks.push({ text: block.pieces.join('').length });
      else if (block.type === 'tool_use') blocks.push({ call: calls++ });
    }
    return { blocks };
  }

  private start(message: Fields | null): WireError | null {
    const id = textOf(message?.['id']);
    // A proxy may repeat the start of the same message; the start of another one means that two answers were mixed.
    if (this.messageId !== null && id === this.messageId) return null;
    if (this.messageId !== null) return malformed('Two answers were mixed in one stream.');
    this.messageId = id ?? '';
    this.model = textOf(message?.['model']) ?? '';
    this.usage = anthropicUsage(this.usage, message?.['usage']);
    for (const [index, block] of listOf(message?.['content']).entries())
      this.startBlock(index, fieldsOf(block));
    return null;
  }

  private startBlock(index: unknown, block: Fields | null): void {
    if (typeof index !== 'number' || !block) return;
    const type = textOf(block['type']) ?? '';
    const opened: Block = {
      type,
      pieces: [],
      id: textOf(block['id']) ?? '',
      name: textOf(block['name']) ?? '',
      input: this.inputOf(block['input']),
      signature: textOf(block['signature']) ?? '',
      data: textOf(block['data']) ?? '',
    };
    this.blocks.set(index, opened);
    this.add(opened, textOf(block[type === 'thinking' ? 'thinking' : 'text']) ?? '');
    if (type === 'tool_use') this.deliveredBytes += callBytes(opened.name, opened.input);
  }

  private grow(index: unknown, delta: Fields | null): WireError | null {
    const block = typeof index === 'number' ? this.blocks.get(index) : undefined;
    if (!block) return malformed('A part of the answer belongs to no block.');
    switch (delta?.['type']) {
      case 'text_delta':
        this.add(block, textOf(delta['text']) ?? '');
        break;
      case 'thinking_delta':
        this.add(block, textOf(delta['thinking']) ?? '');
        break;
      case 'input_json_delta':
        this.add(block, textOf(delta['partial_json']) ?? '');
        break;
      case 'signature_delta':
        block.signature += textOf(delta['signature']) ?? '';
        break;
    }
    return null;
  }

  /** Every block of a stream starts with `{}`, which there means: nothing yet. */
  private inputOf(input: unknown): string {
    const given = fieldsOf(input);
    return given && (this.whole || Object.keys(given).length > 0) ? JSON.stringify(given) : '';
  }

  private add(block: Block, piece: string): void {
    if (piece === '') return;
    block.pieces.push(piece);
    this.deliveredBytes += Buffer.byteLength(piece);
  }

  private ofType(type: string): Block[] {
    return [...this.blocks.values()].filter((block) => block.type === type);
  }
}
