import pino from 'pino';
import type { Logger } from 'pino';
import type { LoggerService } from '@nestjs/common';
import { currentContext } from './request-context';

export type { Logger };

/** Field names whose values are never printed, wherever they stand within two levels. */
const SECRET_FIELDS = [
  'password',
  'authorization',
  'cookie',
  'secret',
  'token',
  'apiKey',
  'api_key',
  'key',
  'credential',
  'url',
  'databaseUrl',
];

/** Secrets that found their way into a text: keys of ours, bearer tokens, credentials in a URL, keys of providers. */
const SECRET_TEXTS: [RegExp, string][] = [
  [/\b(ry_[a-z]+_)[A-Za-z0-9_]{8,}/g, '$1[redacted]'],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 [redacted]'],
  [/(:\/\/)[^\s/@"\\]+@/g, '$1[redacted]@'],
  [/\bsk-[A-Za-z0-9_-]{12,}/g, 'sk-[redacted]'],
];

/** Removes what looks like a secret from a text. A last line of defence: nothing secret should be logged to begin with. */
export function scrub(text: string): string {
  return SECRET_TEXTS.reduce((clean, [pattern, replacement]) => clean.replace(pattern, replacement), text);
}

function errorFacts(error: unknown): object {
  // Errors of another realm (a test runner's) are errors too.
  if (typeof error !== 'object' || error === null || !('message' in error)) return { message: String(error) };
  const { name, message, stack, cause } = error as Error;
  const code: unknown = Reflect.get(error, 'code');
  return { name, message, code, stack, ...(cause === undefined ? {} : { cause: errorFacts(cause) }) };
}

/** JSON lines on stdout (or `destination`), each with service, and request, org and run where they are known. */
export function createLogger(
  service: string,
  level: string,
  destination?: { write(line: string): void },
): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
      censor: '[redacted]',
    },
    // What hangs on an error besides (a database client, say) is large and may hold secrets.
    serializers: { err: errorFacts },
    hooks: { streamWrite: scrub },
    mixin: () => {
      const context = currentContext();
      if (!context) return {};
      const { requestId, traceparent, org, runId, method } = context;
      return { requestId, traceparent, org, runId, method };
    },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Nest's own messages through our logger; its chatter about wiring is debug. */
export function nestLogger(logger: Logger): LoggerService {
  const say =
    (level: 'debug' | 'warn' | 'error') =>
    (message: unknown, ...rest: unknown[]) => {
      const detail = rest.filter((r) => typeof r === 'string').join(' ');
      if (message instanceof Error) logger[level]({ err: message, detail }, message.message);
      else logger[level]({ detail }, String(message));
    };
  return {
    log: say('debug'),
    debug: say('debug'),
    verbose: say('debug'),
    warn: say('warn'),
    error: say('error'),
    fatal: say('error'),
  };
}
