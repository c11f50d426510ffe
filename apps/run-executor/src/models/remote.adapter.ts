import { isHeaderText } from '@runyard/contracts';
import type { ModelRoute } from '@runyard/contracts';
import type { AnswerReader } from './answer';
import { readAnswer } from './answer-body';
import type { CallOptions, LanguageModel } from './prompt';
import {
  causeOf,
  connectionFailure,
  failure,
  retryAfterOf,
  statusFailure,
  wireFailure,
  type Delivered,
} from './provider.errors';
import { AnswerTooLarge, ProviderExchange, type ModelTimeouts } from './provider-exchange';
import { sealState } from './provider-state';
import { redacted } from './redaction';
import { interruptedUsage, settledUsage } from './token-usage';
import { toolNames } from './tool-names';
import type { ModelAdapter, ModelFailure, ModelRequest, ModelResult, ModelTurn } from './types';

/** What differs between the kinds of remote providers. */
export interface ProviderKind<Route extends ModelRoute> {
  accepts(route: ModelRoute): route is Route;
  baseUrl(route: Route): string;
  /** Name of the secret; undefined: the endpoint needs none. */
  credential(route: Route): string | undefined;
  model(route: Route, secret: string | undefined, fetch: typeof globalThis.fetch): LanguageModel;
  options(request: ModelRequest, route: Route): CallOptions;
  reader(): AnswerReader;
}

export interface RemoteSettings {
  secrets: (name: string) => string | undefined;
  fetch: typeof globalThis.fetch;
  timeouts: ModelTimeouts;
  now: () => number;
}

/** One attempt over HTTP per call. Neither throws nor retries; the secret stands in no result. */
export function remoteAdapter<Route extends ModelRoute>(
  kind: ProviderKind<Route>,
  settings: RemoteSettings,
): ModelAdapter {
  return {
    async call(request) {
      const { route } = request;
      if (!kind.accepts(route))
        return failed(failure('provider_invalid', `This is no route for ${route.provider.kind}.`));
      const name = kind.credential(route);
      const secret = secretOf(name, settings);
      const refusal = refusalOf(kind.baseUrl(route), name, secret);
      if (refusal) return failed(refusal);
      return redacted(await attempt(kind, route, request, secret, settings), secret);
    },
  };
}

function secretOf(name: string | undefined, { secrets }: RemoteSettings): string | undefined {
  try {
    // Secrets from files end in a line break that no header can carry.
    return name === undefined ? undefined : secrets(name)?.trim() || undefined;
  } catch {
    return undefined;
  }
}

function refusalOf(
  baseUrl: string,
  name: string | undefined,
  secret: string | undefined,
): ModelFailure | null {
  if (name !== undefined && secret === undefined)
    return failure('provider_auth', `The secret "${name}" is not set; add it to the executor's secrets.`);
  if (secret !== undefined && !isHeaderText(secret))
    return failure(
      'provider_auth',
      `The secret "${name}" holds characters that no HTTP header can carry (blanks, line breaks, others than ASCII); write it anew, the value alone on one line.`,
    );
  if (!/^https?:/.test(baseUrl) || !URL.canParse(baseUrl))
    return failure('provider_invalid', "The model's base URL is not an http(s) URL.");
  return null;
}

async function attempt<Route extends ModelRoute>(
  kind: ProviderKind<Route>,
  route: Route,
  request: ModelRequest,
  secret: string | undefined,
  settings: RemoteSettings,
): Promise<ModelResult> {
  const exchange = new ProviderExchange(settings.fetch, request.signal, settings.timeouts);
  const reader = kind.reader();
  try {
    await send(kind.model(route, secret, exchange.fetch), kind.options(request, route));
    return await answerOf(exchange, reader, request, settings.now);
  } catch (error) {
    // What is complete stays complete, however its connection ends.
    if (reader.finished) return { ok: true, turn: turnOf(reader, request) };
    return failed(brokenOff(error, exchange, reader, request, new URL(kind.baseUrl(route)).host));
  } finally {
    exchange.close(reader.finished);
  }
}

/** Sends the request; the package's own reading of the (empty) answer is thrown away. */
async function send(model: LanguageModel, options: CallOptions): Promise<void> {
  const { stream } = await model.doStream(options);
  await stream.cancel();
}

async function answerOf(
  exchange: ProviderExchange,
  reader: AnswerReader,
  request: ModelRequest,
  now: () => number,
): Promise<ModelResult> {
  const { response } = exchange;
  if (!response) return failed(failure('provider_invalid', 'The request was never sent.'));
  if (!response.ok)
    return failed(
      statusFailure(response.status, await exchange.errorBody(), retryAfterOf(response.headers, now)),
    );
  const error = await readAnswer(exchange.bytes(), reader);
  if (error) return failed(wireFailure(error, response.status, deliveredBy(reader, request)));
  if (!reader.finished)
    return failed(interrupted('The stream ended before the answer did.', reader, request));
  return { ok: true, turn: turnOf(reader, request) };
}

function turnOf(reader: AnswerReader, request: ModelRequest): ModelTurn {
  const names = toolNames(request.tools);
  const content = reader.content();
  return {
    ...content,
    toolCalls: content.toolCalls.map((call) => ({ ...call, tool: names.fromWire(call.tool) })),
    usage: settledUsage(reader.usage, request, reader.deliveredBytes),
    model: reader.model || request.route.model,
    providerState: sealState(request.route, reader.state()),
  };
}

/** What an exception on the way means; `exchange` knows how far it came. */
function brokenOff(
  error: unknown,
  exchange: ProviderExchange,
  reader: AnswerReader,
  request: ModelRequest,
  host: string,
): ModelFailure {
  const accepted = exchange.response?.ok === true;
  const known = accepted ? { partialText: partialText(reader), usage: usageSoFar(reader, request) } : {};
  if (request.signal.aborted) return failure('cancelled', 'The model call was cancelled.', known);
  if (error instanceof AnswerTooLarge) return failure('provider_invalid', error.message, known);
  if (accepted && exchange.timedOut) return interrupted('The stream fell silent.', reader, request);
  if (accepted) return interrupted(`The connection broke: ${causeOf(error)}`, reader, request);
  if (exchange.timedOut)
    return failure('provider_unavailable', `${host} did not answer in time.`, { retryable: true });
  if (exchange.connectionError !== null) return connectionFailure(exchange.connectionError, host);
  return failure('provider_invalid', `The request could not be written: ${causeOf(error)}`);
}

/** What an error inside the answer left behind; null: the provider gave nothing before it. */
const deliveredBy = (reader: AnswerReader, request: ModelRequest): Delivered | null =>
  reader.usage === null && reader.deliveredBytes === 0
    ? null
    : { text: partialText(reader), usage: usageSoFar(reader, request), begun: reader.deliveredBytes > 0 };

const interrupted = (text: string, reader: AnswerReader, request: ModelRequest): ModelFailure =>
  failure('interrupted', text, {
    status: 200,
    retryable: true,
    partialText: partialText(reader),
    usage: usageSoFar(reader, request),
  });

/** Null also where only blank text came: there is nothing to keep. */
const partialText = (reader: AnswerReader): string | null => reader.text || null;

const usageSoFar = (reader: AnswerReader, request: ModelRequest): ReturnType<typeof interruptedUsage> =>
  interruptedUsage(reader.usage, request, reader.deliveredBytes);

const failed = (failure: ModelFailure): ModelResult => ({ ok: false, failure });
