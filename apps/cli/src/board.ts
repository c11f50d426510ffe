import { TASK_STATUSES } from '@runyard/contracts';
import type { TaskStepRow } from '@runyard/contracts';
import type { Query, Runyard, Task } from '@runyard/client';
import { Option } from 'commander';
import { apiOf } from './api';
import { AS_OF, examples, factLines, tellAll, tellOne, whole } from './command';
import type { Commands } from './command';
import { table } from './terminal';
import type { Terminal } from './terminal';

interface Options {
  column?: string;
  status?: Query<'GET /v1/tasks'>['status'];
  agent?: string;
  asOf?: string;
  limit: string;
  json?: boolean;
}

export const boardCommands: Commands = (program, line) => {
  const board = program
    .command('board')
    .summary('board: list, show')
    .description('Tasks on the board, through the HTTP API with the key of the connection.')
    .addHelpText(
      'before',
      examples(
        ['runyard board list --column doing', 'the cards of a column in their order'],
        ['runyard board show task_5…', 'one task with its plan'],
        ['runyard board list --as-of 2026-11-27T12:00:00Z', 'the board as it was then'],
      ),
    );
  board
    .command('list')
    .description('Lists the cards of a column in their order; without one all tasks, newest first.')
    .option('--column <name>', 'only of this column')
    .addOption(new Option('--status <status>', 'only in this status').choices([...TASK_STATUSES]))
    .option('--agent <id>', 'only of this agent')
    .option(...AS_OF)
    .option('--limit <n>', 'how many at most', '50')
    .option('--json', 'one JSON object a line')
    .action((options: Options) => line.run(() => list(apiOf(line.file()), options, line.terminal)));
  board
    .command('show <task>')
    .description('Shows a task with its plan, or what it was at an earlier moment.')
    .option(...AS_OF)
    .option('--json', 'as JSON')
    .action((taskId: string, options: Options) =>
      line.run(() => show(apiOf(line.file()), taskId, options, line.terminal)),
    );
};

async function list(api: Runyard, options: Options, terminal: Terminal): Promise<number> {
  const { column, status, agent, asOf, limit } = options;
  const query = { column, status, agent_id: agent, as_of: asOf, limit: whole(limit) };
  const { data } = await api.call('GET /v1/tasks', { query });
  return tellAll(terminal, data, { json: options.json, lines: listing, none: 'There are no such tasks' });
}

const listing = (tasks: readonly Task[]): string[] =>
  table(
    ['task', 'column', 'status', 'steps', 'agent', 'title'],
    tasks.map((task) => [
      task.task_id,
      task.column,
      task.attention ?? task.status,
      `${task.steps_done}/${task.steps_total}`,
      task.agent_id,
      task.title,
    ]),
  );

async function show(
  api: Runyard,
  taskId: string,
  { asOf, json }: Options,
  terminal: Terminal,
): Promise<number> {
  const input = { path: { task_id: taskId }, query: { as_of: asOf } };
  const task = await api.call('GET /v1/tasks/{task_id}', input);
  const { data: steps } = await api.call('GET /v1/tasks/{task_id}/steps', input);
  return tellOne(terminal, { task, steps }, json, overview);
}

interface Shown {
  task: Task;
  steps: readonly Pick<TaskStepRow, 'seq' | 'title' | 'status'>[];
}

function overview({ task, steps }: Shown): string[] {
  const facts = factLines([
    ['task', `${task.task_id}, ${task.title}`],
    ['owner', task.user_id],
    ['agent', task.agent_id],
    ['column', task.column],
    ['status', [task.status, task.phase, task.attention, task.reason].filter(Boolean).join(', ')],
    [
      'lock',
      task.lock && `${task.lock.holder}, ${task.lock.expired ? 'expired' : 'until'} ${task.lock.expires_at}`,
    ],
    ['changed', task.updated_at],
    ['position', task.position],
  ]);
  const plan = steps.map(({ seq, title, status }) => `${String(seq).padStart(4)}  ${status}  ${title}`);
  return [...facts, ...plan, ...(task.report === null ? [] : ['', task.report])];
}
