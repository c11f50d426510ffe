import { ReplayBeside, ReplayInPlace, ReplayMismatch } from '@runyard/persistence';
import { ProgressBar } from './progress-bar';
import type { Plan } from './replay';
import { confirm, EXIT } from './terminal';
import type { Terminal } from './terminal';

/** Rebuilds beside the live rows; switches over unless only a part was asked for. */
export async function beside(plan: Plan, terminal: Terminal, signal: AbortSignal): Promise<number> {
  const rebuild = await ReplayBeside.open(plan.target);
  try {
    if (plan.options.drop) return await drop(rebuild, terminal);
    const from = await begun(rebuild, plan, terminal);
    const bar = new ProgressBar(terminal, plan.target.projection.name, from, plan.until);
    const position = await rebuild.run(plan.source, plan.until, signal, (place) => bar.show(place));
    bar.end();
    const partial = plan.options.to !== undefined || plan.options.from !== undefined || plan.options.keep;
    if (partial) {
      terminal.out(`${rebuild.schema} holds the rows as of ${position}`);
      terminal.say(`Take it away with: runyard replay ${plan.target.projection.name} --drop`);
      return EXIT.ok;
    }
    return await switchOver(rebuild, plan, terminal, signal);
  } finally {
    await rebuild.close();
  }
}

async function drop(rebuild: ReplayBeside, terminal: Terminal): Promise<number> {
  await rebuild.drop();
  terminal.say(`${rebuild.schema} is gone`);
  return EXIT.ok;
}

/** Goes on with what an interrupted attempt left, as long as it is the beginning of the same thing. */
async function begun(rebuild: ReplayBeside, plan: Plan, terminal: Terminal): Promise<number> {
  const found = await rebuild.found();
  if (!found) {
    await rebuild.begin(plan.incarnation, plan.after);
    return plan.after;
  }
  if (
    found.incarnation !== plan.incarnation ||
    found.position > plan.until ||
    plan.options.from !== undefined
  )
    throw new ReplayMismatch(
      `${rebuild.schema} is of another replay, at ${found.position}; take it away with --drop`,
    );
  terminal.say(`Going on after ${found.position}, where an earlier attempt ended`);
  return found.position;
}

async function switchOver(
  rebuild: ReplayBeside,
  { target, source, live, options }: Plan,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const { name } = target.projection;
  const at = live ? ` (at ${live.position})` : '';
  await confirm(terminal, `The live rows of ${name}${at} become what was rebuilt.`, name, options.yes);
  const { position, tables } = await rebuild.switchOver(source, signal);
  for (const { table, removed, added } of tables)
    terminal.out(`${target.schema}.${table}: ${removed} rows out, ${added} rows in`);
  terminal.out(`replay: ${name} switched over at ${position}`);
  return EXIT.ok;
}

/** Replays onto the live rows; the service's projector stands by meanwhile and goes on afterwards. */
export async function inPlace(plan: Plan, terminal: Terminal, signal: AbortSignal): Promise<number> {
  const { name } = plan.target.projection;
  const whole = plan.options.from === undefined;
  const what = whole
    ? `This empties the live tables of ${name} and fills them again; readers see what has come so far.`
    : `This applies what comes after ${plan.after} to the live rows of ${name} once more.`;
  await confirm(terminal, what, name, plan.options.yes);
  const replay = await ReplayInPlace.open(plan.target, signal);
  try {
    if (whole) await replay.empty(plan.incarnation);
    else await replay.rewind(plan.incarnation, plan.after);
    const bar = new ProgressBar(terminal, name, plan.after, plan.until);
    await replay.run(plan.source, plan.incarnation, plan, signal, (place) => bar.show(place));
    bar.end();
    terminal.out(`replay: ${name} in place up to ${plan.until}`);
    return EXIT.ok;
  } finally {
    await replay.close();
  }
}
