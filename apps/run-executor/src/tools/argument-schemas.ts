import Ajv, { type AnySchemaObject, type ErrorObject, type Options } from 'ajv';
import Ajv2019 from 'ajv/dist/2019';
import Ajv2020 from 'ajv/dist/2020';
import type { JsonObject } from '@runyard/contracts';
import { digestOf } from '@runyard/event-log';

/** Compiled schemas that are kept; one is some tens of kilobytes, and a deployment has hundreds of tools. */
const KEPT_SCHEMAS = 500;

export type ArgumentCheck =
  | { ok: true; validate: (value: JsonObject) => readonly ErrorObject[] }
  | { ok: false; reason: string };

const byDigest = new Map<string, ArgumentCheck>();
// A run carries the same definition object from call to call: no need to digest it each time.
const byIdentity = new WeakMap<JsonObject, ArgumentCheck>();

/** The compiled check of a tool's input schema. A broken schema is told as such and never throws. */
export function argumentCheck(schema: JsonObject): ArgumentCheck {
  const known = byIdentity.get(schema);
  if (known) return known;
  const check = kept(schema);
  byIdentity.set(schema, check);
  return check;
}

function kept(schema: JsonObject): ArgumentCheck {
  const digest = digestOf(schema);
  const check = byDigest.get(digest) ?? compile(schema);
  byDigest.delete(digest);
  byDigest.set(digest, check);
  const oldest = byDigest.size > KEPT_SCHEMAS ? byDigest.keys().next() : undefined;
  if (oldest && !oldest.done) byDigest.delete(oldest.value);
  return check;
}

const OPTIONS: Options = {
  allErrors: true,
  // Values in errors, so that the message can say what came.
  verbose: true,
  // Schemas of third parties hold keywords and formats of their own; those are annotations to us.
  strict: false,
  validateFormats: false,
  logger: false,
  // Arguments are judged as they came: a value filled in or converted here would not be the one that was approved (C30).
  useDefaults: false,
  coerceTypes: false,
};

type Compiler = Pick<Ajv, 'compile' | 'removeSchema'>;
type Dialect = new (options: Options) => Compiler;

/** A compiler reads its dialect's own schema first, which takes longer than a tool's; so they are kept. */
const compilers = new Map<Dialect, Compiler>();

const newCompiler = (dialect: Dialect): Compiler => new dialect(OPTIONS);

function keptCompiler(dialect: Dialect): Compiler {
  const compiler = compilers.get(dialect) ?? newCompiler(dialect);
  compilers.set(dialect, compiler);
  return compiler;
}

function compile(schema: JsonObject): ArgumentCheck {
  const source = withoutDialect(schema);
  let reason = '';
  for (const Dialect of dialectsOf(schema['$schema'])) {
    // Two tools may use the same $id inside; a compiler of its own knows of no other tool.
    for (const compilerOf of [keptCompiler, newCompiler]) {
      const compiler = compilerOf(Dialect);
      try {
        const validate = compiler.compile(source);
        return { ok: true, validate: (value) => (validate(value) ? [] : (validate.errors ?? [])) };
      } catch (error) {
        reason ||= error instanceof Error ? error.message : String(error);
      } finally {
        compiler.removeSchema(source);
      }
    }
  }
  return { ok: false, reason };
}

/** 2020-12 unless the schema says otherwise (MCP's rule); whichever is named, another may still read it. */
function dialectsOf(named: unknown): Dialect[] {
  const uri = typeof named === 'string' ? named : '';
  if (/draft-0[4-7]/.test(uri)) return [Ajv, Ajv2020];
  if (uri.includes('2019-09')) return [Ajv2019, Ajv2020];
  return [Ajv2020, Ajv];
}

/** An unknown `$schema` would be looked up as a meta-schema and fail. */
function withoutDialect(schema: JsonObject): AnySchemaObject {
  const { $schema: _dialect, ...rest } = schema;
  return rest;
}
