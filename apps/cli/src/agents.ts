import type { Agent, Runyard } from '@runyard/client';
import { apiOf } from './api';
import { AS_OF, examples, factLines, tellAll, tellOne, whole } from './command';
import type { Commands } from './command';
import { table } from './terminal';
import type { Terminal } from './terminal';

interface Options {
  asOf?: string;
  limit: string;
  json?: boolean;
}

export const agentsCommands: Commands = (program, line) => {
  const agents = program
    .command('agents')
    .summary('agents: list, show')
    .description('Agents, through the HTTP API with the key of the connection (or RUNYARD_API_KEY).')
    .addHelpText(
      'before',
      examples(
        ['runyard agents list', 'all of them by name'],
        ['runyard agents show clerk', 'one, with its prompt'],
        ['runyard agents show clerk --as-of 2026-11-30T08:00:00Z', 'what it was then'],
      ),
    );
  agents
    .command('list')
    .description('Lists agents by name.')
    .option('--limit <n>', 'how many at most', '50')
    .option('--json', 'one JSON object a line')
    .action((options: Options) => line.run(() => list(apiOf(line.file()), options, line.terminal)));
  agents
    .command('show <agent>')
    .description('Shows an agent, or what it was at an earlier moment.')
    .option(...AS_OF)
    .option('--json', 'as JSON')
    .action((id: string, options: Options) =>
      line.run(() => show(apiOf(line.file()), id, options, line.terminal)),
    );
};

const stateOf = ({ enabled, admin_paused: locked }: Agent): string =>
  locked ? 'locked' : enabled ? 'on' : 'off';

async function list(api: Runyard, { limit, json }: Options, terminal: Terminal): Promise<number> {
  const most = whole(limit);
  const agents = await api.agents.list({ limit: most }).all(most);
  return tellAll(terminal, agents, { json, lines: listing, none: 'There are no agents' });
}

const listing = (agents: readonly Agent[]): string[] =>
  table(
    ['agent', 'name', 'version', 'state', 'model', 'owner'],
    agents.map((agent) => [
      agent.agent_id,
      agent.name,
      agent.agent_version,
      stateOf(agent),
      agent.model_id,
      agent.owner_id,
    ]),
  );

async function show(api: Runyard, id: string, { asOf, json }: Options, terminal: Terminal): Promise<number> {
  const path = { agent_id: id };
  const agent = await api.call('GET /v1/agents/{agent_id}', { path, query: { as_of: asOf } });
  return tellOne(terminal, agent, json, overview);
}

const overview = (agent: Agent): string[] => [
  ...factLines([
    ['agent', `${agent.agent_id} v${agent.agent_version}, ${agent.name}`],
    ['owner', agent.owner_id],
    ['state', `${stateOf(agent)}${agent.start_conditions.map(({ reason }) => `; ${reason}`).join('')}`],
    ['model', agent.model_id],
    ['tools', agent.tools.join(', ') || null],
    ['mode', `${agent.mode}, ${agent.approval_policy} for approvals`],
    ['schedule', agent.schedule && JSON.stringify(agent.schedule)],
    ['next run', agent.next_run_at ?? null],
    ['changed', agent.updated_at],
    ['position', agent.position],
  ]),
  '',
  agent.prompt,
];
