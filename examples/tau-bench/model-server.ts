import { createHash } from 'node:crypto';
import { LLMock } from '@copilotkit/aimock';
import type { ChatCompletionRequest } from '@copilotkit/aimock';
import type { Dialog, SourceMessage } from './source';

/** What makes two dialogs the same to the model: roles, texts, calls and results; ids are the sender's own. */
type Heard = [role: string, content: string | null, calls: [string, string][]];

interface Answer {
  content: string | null;
  calls: { id: string; name: string; arguments: string }[];
}

/**
 * An independent OpenAI-compatible server that plays the recorded turns, streamed. It answers a dialog only where every
 * message so far is as recorded; anything else gets an error. `improvise`: a dialog that went another way, since a person
 * decided about a call, goes on as a recorded one in which the same was said and called, whatever came of the calls.
 */
export async function startModelServer(
  dialogs: readonly Dialog[],
  { improvise = false }: { improvise?: boolean } = {},
): Promise<{ url: string; stop(): Promise<void> }> {
  const answers = new Map<string, Answer>();
  for (const { source } of dialogs) learn(answers, source.traj, keyOf);
  if (improvise) for (const { source } of dialogs) learn(answers, source.traj, gistOf);
  const answerTo = (request: ChatCompletionRequest): Answer | undefined => {
    const heard = heardIn(request);
    const recorded = answers.get(keyOf(heard));
    return recorded ?? (improvise ? (answers.get(gistOf(heard)) ?? AT_A_LOSS) : undefined);
  };
  const server = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent', journalMaxEntries: 1 });
  server.addFixture({
    match: { predicate: (request) => answerTo(request) !== undefined },
    response: (request) => responseOf(answerTo(request)),
  });
  await server.start();
  return { url: `${server.url}/v1`, stop: () => server.stop() };
}

function learn(
  answers: Map<string, Answer>,
  messages: readonly SourceMessage[],
  keyOf: (heard: readonly Heard[]) => string,
): void {
  const heard: Heard[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') answers.set(keyOf(heard), answerOf(message));
    heard.push(heardOf(message));
  }
}

/** What is said where no dialog went like this one. */
const AT_A_LOSS: Answer = { content: 'I am sorry, but I cannot help you with that.', calls: [] };

const answerOf = ({ content, tool_calls }: SourceMessage): Answer => ({
  content,
  calls: (tool_calls ?? []).map(({ id, function: fn }) => ({ id, name: fn.name, arguments: fn.arguments })),
});

const heardOf = ({ role, content, tool_calls }: SourceMessage): Heard => [
  role,
  content,
  (tool_calls ?? []).map((call) => [call.function.name, call.function.arguments]),
];

const keyOf = (heard: readonly Heard[]): string =>
  createHash('sha256').update(JSON.stringify(heard)).digest('hex');

/** What was said and called, without what came of the calls. */
const gistOf = (heard: readonly Heard[]): string =>
  keyOf(
    heard.map(([role, content, calls]) => [
      role,
      role === 'tool' ? '' : content,
      calls.map(([name]) => [name, '']),
    ]),
  );

const heardIn = ({ messages }: ChatCompletionRequest): Heard[] =>
  messages.map(({ role, content, tool_calls }) => [
    role,
    typeof content === 'string' || content === null
      ? content
      : content.map((part) => part.text ?? '').join(''),
    (tool_calls ?? []).map((call) => [call.function.name, call.function.arguments]),
  ]);

function responseOf(answer: Answer | undefined) {
  const { content, calls } = answer ?? { content: '', calls: [] };
  if (calls.length === 0) return { content: content ?? '' };
  return content === null ? { toolCalls: calls } : { content, toolCalls: calls };
}
