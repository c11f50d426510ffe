import type { Observation } from './observation';
import type { Expectations } from './suite';

/** What a run was not, of what was expected; empty where all of it holds. */
export function faultsOf(expect: Expectations, seen: Observation): string[] {
  return [
    ...callFaults(expect, seen),
    ...leakFaults(expect.must_not_leak, seen),
    ...endFaults(expect, seen),
    ...outputFaults(expect.output, seen.output),
    ...limitFaults(expect.limits, seen),
  ];
}

function callFaults({ tools_called, tools_not_called = [] }: Expectations, { calls }: Observation): string[] {
  const made = calls.filter((call) => call.made).map(({ tool }) => tool);
  const asked = new Set(calls.map(({ tool }) => tool));
  const forbidden = tools_not_called.filter((tool) => asked.has(tool)).map((tool) => `${tool} was called`);
  const order = tools_called === undefined || ordered(tools_called, made);
  const wanted = JSON.stringify(tools_called);
  return [...(order ? [] : [`tools called: ${made.join(', ') || 'none'}; expected ${wanted}`]), ...forbidden];
}

function ordered(expected: NonNullable<Expectations['tools_called']>, made: readonly string[]): boolean {
  if ('exact' in expected) return expected.exact.join('\n') === made.join('\n');
  const rest = [...made];
  if ('in_order' in expected)
    return expected.in_order.every((tool) => {
      const at = rest.indexOf(tool);
      return at >= 0 && rest.splice(0, at + 1).length > 0;
    });
  return expected.any_order.every((tool) => {
    const at = rest.indexOf(tool);
    return at >= 0 && rest.splice(at, 1).length > 0;
  });
}

/** Secrets are looked for in texts as JSON reads them: `\u0061` is an a as well, and an escape is no number. */
function leakFaults(secrets: Expectations['must_not_leak'], seen: Observation): string[] {
  if (!secrets) return [];
  const places = [
    { place: 'the output', raw: seen.output, read: seen.output },
    ...seen.calls.map((call) => ({
      place: `arguments of ${call.tool}`,
      raw: call.arguments,
      read: leaves(call.arguments),
    })),
  ];
  const found = places.flatMap(({ place, raw, read }) => [
    ...secrets.strings
      // As it is, too: of two members of one name JSON reads the last.
      .filter((secret) => raw.includes(secret) || read.includes(secret))
      .map(() => `a forbidden text in ${place}`),
    ...secrets.patterns
      .filter((one) => new RegExp(one, 'u').test(read))
      .map((one) => `/${one}/ matches in ${place}`),
  ]);
  return [
    ...found,
    ...seen.cut.map((what) => `${what} is longer than the record shows: a leak cannot be ruled out`),
  ];
}

/** Every name, text and number in a JSON value, one a line; what is no JSON as it is. */
function leaves(json: string): string {
  const found: string[] = [];
  try {
    JSON.parse(json, (key, value: unknown) => {
      found.push(key);
      if (typeof value === 'string' || typeof value === 'number') found.push(String(value));
      return value;
    });
  } catch {
    return json;
  }
  return found.join('\n');
}

function endFaults({ termination }: Expectations, seen: Observation): string[] {
  if (termination === undefined || termination === seen.termination) return [];
  return [
    `ended as ${[seen.termination ?? seen.state, seen.reason].filter(Boolean).join(' / ')}; expected ${termination}`,
  ];
}

function outputFaults(expect: Expectations['output'], output: string): string[] {
  if (!expect) return [];
  const quote = (text: string) => JSON.stringify(text);
  return [
    ...(expect.equals === undefined || expect.equals === output
      ? []
      : [`the output is not ${quote(expect.equals)}`]),
    ...expect.contains
      .filter((text) => !output.includes(text))
      .map((text) => `the output lacks ${quote(text)}`),
    ...expect.not_contains
      .filter((text) => output.includes(text))
      .map((text) => `the output has ${quote(text)}`),
    ...expect.matches
      .filter((one) => !new RegExp(one, 'u').test(output))
      .map((one) => `the output does not match /${one}/`),
  ];
}

function limitFaults(limits: Expectations['limits'] = {}, seen: Observation): string[] {
  const used = {
    steps: seen.steps,
    tool_calls: seen.calls.filter(({ made }) => made).length,
    tokens: seen.tokens,
  };
  return (['steps', 'tool_calls', 'tokens'] as const).flatMap((what) => {
    const most = limits[what];
    return most !== undefined && used[what] > most
      ? [`${used[what]} ${what.replace('_', ' ')}; at most ${most}`]
      : [];
  });
}
