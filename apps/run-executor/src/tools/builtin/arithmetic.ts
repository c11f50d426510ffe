import jsep from 'jsep';
import * as d from './decimal';
import { ArithmeticError, type Decimal } from './decimal';

/** Longest expression; the parser and the evaluator recurse over it. */
export const MAX_EXPRESSION = 2_000;
const MAX_DEPTH = 100;

type Value = Decimal | boolean;

const CONSTANTS: Readonly<Record<string, string>> = {
  pi: '3.141592653589793238462643383279503',
  e: '2.718281828459045235360287471352662',
};

const BINARY: Readonly<Record<string, (a: Decimal, b: Decimal) => Value>> = {
  '+': d.add,
  '-': d.subtract,
  '*': d.multiply,
  '/': d.divide,
  '%': d.remainder,
  '**': d.power,
  '<': (a, b) => d.compare(a, b) < 0,
  '<=': (a, b) => d.compare(a, b) <= 0,
  '>': (a, b) => d.compare(a, b) > 0,
  '>=': (a, b) => d.compare(a, b) >= 0,
  '==': (a, b) => d.compare(a, b) === 0,
  '!=': (a, b) => d.compare(a, b) !== 0,
};

interface Fn {
  /** Fewest and most arguments. */
  takes: [number, number];
  apply: (first: Decimal, ...rest: Decimal[]) => Decimal;
}

const one = (apply: (a: Decimal) => Decimal): Fn => ({ takes: [1, 1], apply });
const real = (fn: (a: number) => number): Fn => one((a) => d.fromDouble(fn(d.toDouble(a))));
const many = (apply: Fn['apply']): Fn => ({ takes: [1, 1_000], apply });
const sum = (first: Decimal, ...rest: Decimal[]) => rest.reduce(d.add, first);

const FUNCTIONS: Readonly<Record<string, Fn>> = {
  abs: one((a) => (a.units < 0n ? d.negate(a) : a)),
  sqrt: one(d.squareRoot),
  floor: one(d.floor),
  ceil: one((a) => d.negate(d.floor(d.negate(a)))),
  trunc: one((a) => (a.units < 0n ? d.negate(d.floor(d.negate(a))) : d.floor(a))),
  round: { takes: [1, 2], apply: (a, places) => d.round(a, places ? placesOf(places) : 0) },
  min: many((first, ...rest) => rest.reduce((a, b) => (d.compare(a, b) <= 0 ? a : b), first)),
  max: many((first, ...rest) => rest.reduce((a, b) => (d.compare(a, b) >= 0 ? a : b), first)),
  sum: many(sum),
  mean: many((first, ...rest) => d.divide(sum(first, ...rest), d.decimal(String(rest.length + 1)))),
  exp: real(Math.exp),
  ln: real(Math.log),
  log10: real(Math.log10),
  log2: real(Math.log2),
  sin: real(Math.sin),
  cos: real(Math.cos),
  tan: real(Math.tan),
  // Where a person wrote brackets; see `bracketed`.
  group: one((a) => a),
};

/** The names a model may use, for the tool's description. */
export const FUNCTION_NAMES = Object.keys(FUNCTIONS).filter((name) => name !== 'group');

/** Works out an arithmetic expression. No names, no properties, no strings: only numbers. Throws ArithmeticError. */
export function calculate(expression: string): string {
  if (expression.length > MAX_EXPRESSION)
    throw new ArithmeticError(`the expression is longer than ${MAX_EXPRESSION} characters`);
  const value = evaluate(parse(expression), 0);
  if (typeof value === 'boolean') return String(value);
  return value.exact ? d.format(value) : `${d.format(d.shown(value))} (rounded)`;
}

function parse(expression: string): jsep.Expression {
  try {
    return jsep(bracketed(expression));
  } catch (error) {
    throw new ArithmeticError(
      `the expression cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** The parse tree forgets brackets and binds a sign closer than `**`; with them kept, (-2)**2 and -2**2 can differ. */
const bracketed = (expression: string): string =>
  expression.replace(/([A-Za-z_]\w*)?\s*\(/g, (match, name) => (name ? match : 'group('));

function evaluate(node: jsep.Expression, depth: number): Value {
  if (depth > MAX_DEPTH)
    throw new ArithmeticError(`the expression is nested deeper than ${MAX_DEPTH} levels`);
  const tree = node as jsep.CoreExpression;
  switch (tree.type) {
    case 'Literal':
      return literal(tree);
    case 'Identifier':
      return constant(tree.name);
    case 'UnaryExpression':
      return signed(tree.operator, number(tree.argument, depth));
    case 'BinaryExpression':
      return binary(tree, depth);
    case 'CallExpression':
      return call(tree, depth);
    default:
      throw new ArithmeticError(
        'only one expression of numbers, + - * / % **, comparisons and functions can be worked out',
      );
  }
}

function literal({ value, raw }: jsep.Literal): Value {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'number') throw new ArithmeticError(`${raw.slice(0, 40)} is not a number`);
  return d.decimal(raw);
}

function constant(name: string): Decimal {
  const value = Object.hasOwn(CONSTANTS, name) ? CONSTANTS[name] : undefined;
  if (value === undefined)
    throw new ArithmeticError(`"${name.slice(0, 40)}" is not known; there are only the constants pi and e`);
  return d.decimal(value, false);
}

function signed(operator: string, value: Decimal): Decimal {
  if (operator === '-') return d.negate(value);
  if (operator === '+') return value;
  throw new ArithmeticError(`operator ${operator} is not known`);
}

function binary({ operator, left, right }: jsep.BinaryExpression, depth: number): Value {
  const apply = Object.hasOwn(BINARY, operator) ? BINARY[operator] : undefined;
  if (!apply) throw new ArithmeticError(`operator ${operator} is not known`);
  if (operator === '**' && left.type === 'UnaryExpression') {
    const { operator: sign, argument } = left as jsep.UnaryExpression;
    return signed(sign, number({ type: 'BinaryExpression', operator, left: argument, right }, depth + 1));
  }
  return apply(number(left, depth), number(right, depth));
}

function call({ callee, arguments: given }: jsep.CallExpression, depth: number): Decimal {
  const name = callee.type === 'Identifier' ? (callee as jsep.Identifier).name : '';
  const fn = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (!fn)
    throw new ArithmeticError(
      `function ${name.slice(0, 40) || '?'} is not known; there are ${FUNCTION_NAMES.join(', ')}`,
    );
  const [first, ...rest] = given.map((argument) => number(argument, depth));
  const [fewest, most] = fn.takes;
  if (!first || given.length < fewest || given.length > most) {
    throw new ArithmeticError(`${name} takes ${fewest === most ? fewest : `${fewest} to ${most}`} numbers`);
  }
  return fn.apply(first, ...rest);
}

function number(node: jsep.Expression, depth: number): Decimal {
  const value = evaluate(node, depth + 1);
  if (typeof value === 'boolean') throw new ArithmeticError('a comparison is not a number');
  return value;
}

function placesOf(places: Decimal): number {
  const count = d.toDouble(places);
  if (!Number.isInteger(count) || Math.abs(count) > 100)
    throw new ArithmeticError('round takes a whole number of places up to 100');
  return count;
}
