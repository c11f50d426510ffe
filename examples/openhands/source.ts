import { readFileSync } from 'node:fs';

/** A completion as the provider answered it. */
interface Completion {
  id: string;
  model: string;
  choices: {
    message: {
      content: string | null;
      tool_calls: { id: string; function: { name: string; arguments: string } }[];
    };
  }[];
  usage: { prompt_tokens: number; completion_tokens: number };
}

interface FunctionTool {
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

/** An action of the agent, or what came of one. */
interface SourceEvent {
  id: number;
  source: string;
  action?: string;
  observation?: string;
  cause?: number;
  content?: string;
  args?: { content?: string; tools?: FunctionTool[]; final_thought?: string };
  tool_call_metadata?: { model_response: Completion };
}

interface SourceRun {
  instance_id: string;
  history: SourceEvent[];
  metrics: { accumulated_token_usage: { prompt_tokens: number; completion_tokens: number } };
}

/** What an agent's turn said, asked for and cost, and what its one call brought. */
export interface CodingTurn {
  text: string | null;
  call: { id: string; tool: string; arguments: string };
  result: string;
  usage: { input: number; output: number };
}

/** A recorded coding run. */
export interface CodingRun {
  name: string;
  system: string;
  task: string;
  model: string;
  tools: FunctionTool['function'][];
  turns: CodingTurn[];
  /** What the source itself states, which is not derived from its turns. */
  stated: { input: number; output: number };
}

/** The tool whose call ends a run. */
export const FINISH = 'finish';

/** Reads the recorded coding runs of All-Hands-AI/OpenHands @156d068 (MIT), one JSON object a line. */
export const readCodingRuns = (file: string): CodingRun[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => codingRun(JSON.parse(line) as SourceRun));

function codingRun({ instance_id, history, metrics }: SourceRun): CodingRun {
  const system = history.find(({ action }) => action === 'system');
  const task = history.find(({ source, action }) => source === 'user' && action === 'message');
  const observed = new Map(history.map((event) => [event.cause, event.content ?? '']));
  const answered = history.filter((event) => event.action !== undefined && event.tool_call_metadata);
  const { prompt_tokens, completion_tokens } = metrics.accumulated_token_usage;
  return {
    name: instance_id,
    system: system?.args?.content ?? '',
    task: task?.args?.content ?? '',
    model: answered[0]?.tool_call_metadata?.model_response.model ?? '',
    tools: (system?.args?.tools ?? []).map((tool) => tool.function),
    turns: answered.map((event) => codingTurn(event, observed)),
    stated: { input: prompt_tokens, output: completion_tokens },
  };
}

function codingTurn(event: SourceEvent, observed: ReadonlyMap<number | undefined, string>): CodingTurn {
  const completion = event.tool_call_metadata?.model_response;
  const message = completion?.choices[0]?.message;
  const [call, ...more] = message?.tool_calls ?? [];
  if (!completion || !call || more.length > 0)
    throw new Error(`event ${event.id}: one call a turn is what these recordings have`);
  const { name, arguments: given } = call.function;
  return {
    text: message?.content ?? null,
    call: { id: call.id, tool: name, arguments: given },
    // Nothing comes back from the last call: the run ends with what it says.
    result: name === FINISH ? (event.args?.final_thought ?? '') : (observed.get(event.id) ?? ''),
    usage: { input: completion.usage.prompt_tokens, output: completion.usage.completion_tokens },
  };
}
