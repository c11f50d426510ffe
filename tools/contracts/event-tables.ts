import * as contracts from '@runyard/contracts';
import type { Context } from '@runyard/contracts';

/** What an engineer of another service must know of a context before its events. */
export interface ContextFacts {
  /** What one subject is about. */
  aggregate: string;
  /** The service that decides, and therefore appends. */
  service: string;
  meaning: string;
}

/** Every context; the compiler misses one that is left out. */
export const CONTEXT_FACTS: Readonly<Record<Context, ContextFacts>> = {
  runs: {
    aggregate: 'one run, by its id',
    service: 'run-executor',
    meaning: 'Executions of agents: from the request over every model and tool call to the end',
  },
  conversations: {
    aggregate: 'one conversation, by its id',
    service: 'run-executor',
    meaning: 'Dialogs whose turns are runs',
  },
  erasures: {
    aggregate: '`runs` of an org',
    service: 'operators, by the command line',
    meaning: 'What remains of runs whose content was overwritten in log, archive and rows',
  },
  bulk: {
    aggregate: 'one bulk action, by its id',
    service: 'run-executor',
    meaning: 'The same thing done to many runs: which ones, what became of each',
  },
  agents: {
    aggregate: 'one agent, by its id',
    service: 'agent-registry',
    meaning: 'Definitions of agents, their versions and switches',
  },
  catalogue: {
    aggregate: '`models` or `tools` of an org',
    service: 'agent-registry',
    meaning: 'Models and tools that agents of an org may use',
  },
  knowledge: {
    aggregate: '`doc-<id>` or `group-<id>`',
    service: 'knowledge',
    meaning: 'Documents that agents may look up, and who may read them',
  },
  people: {
    aggregate: '`org`, `user-<id>` or `key-<id>`',
    service: 'agent-registry',
    meaning: 'The org, its people and its API keys',
  },
  schedules: {
    aggregate: 'the timetable of one agent, by its id',
    service: 'scheduler',
    meaning: 'What became of each slot of a timetable',
  },
  budgets: {
    aggregate: '`week-<owner>-<Sunday>`, `owner-<owner>` or `caps`',
    service: 'budget-ledger',
    meaning: 'Tokens that owners may spend in a week: reserved, settled, released',
  },
  approvals: {
    aggregate: 'one question, by its approval id',
    service: 'approvals',
    meaning: 'Questions to people about calls, and what they decided',
  },
  permissions: {
    aggregate: '`rules` of an org',
    service: 'approvals',
    meaning: 'Rules that allow, deny or ask about tool calls',
  },
  tasks: {
    aggregate: 'one task, by its id, or `board`: the order of an org’s cards',
    service: 'tasks',
    meaning: 'The task board: plan, act, verify, report',
  },
};

/** Tables whose name does not begin with their context's. */
const ELSEWHERE: Readonly<Record<string, Context>> = {
  RUN_APPROVAL_EVENTS: 'runs',
  CHILD_EVENTS: 'runs',
  ERASURE_EVENTS: 'erasures',
  BOARD_EVENTS: 'tasks',
};

const TABLE = /^([A-Z_]+)_EVENTS$/;

/** The context of a table: `RUN_EVENTS` → runs, `CATALOGUE_EVENTS` → catalogue. Throws where nobody has said it. */
export function contextOfTable(table: string): Context {
  const noun = TABLE.exec(table)?.[1]?.toLowerCase() ?? '';
  const context = [ELSEWHERE[table], noun, `${noun}s`].find((name) => name && name in CONTEXT_FACTS);
  if (!context) throw new Error(`${table} belongs to no context; name it in tools/contracts/event-tables.ts`);
  return context as Context;
}

/** Event names by context, out of every `*_EVENTS` table that the contracts export. */
export function eventTables(): Map<Context, string[]> {
  const byContext = new Map<Context, string[]>();
  for (const [name, table] of Object.entries(contracts)) {
    if (!TABLE.test(name) || typeof table !== 'object') continue;
    const context = contextOfTable(name);
    byContext.set(context, [...new Set([...(byContext.get(context) ?? []), ...Object.keys(table)])]);
  }
  const order = Object.keys(CONTEXT_FACTS) as Context[];
  return new Map(order.flatMap((context) => entryOf(byContext, context)));
}

const entryOf = (tables: Map<Context, string[]>, context: Context): [Context, string[]][] => {
  const names = tables.get(context);
  return names ? [[context, names]] : [];
};
