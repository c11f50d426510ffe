import { CONTEXT_STREAMS, QUEUES, rpcSubject } from '@runyard/contracts';
import type { Context } from '@runyard/contracts';

/** What a service may do on the bus beside what all may. */
interface Access {
  /** Contexts whose events it appends; nobody else does. */
  appends: Context[];
  /** Work queues that it takes from. */
  takes?: string[];
  publishes?: string[];
  subscribes?: string[];
}

/**
 * Who may write which events. Every service reads every log, asks every other service, and publishes run requests and dead
 * letters; only an aggregate's own service appends to it.
 */
export const ACCESS: Readonly<Record<string, Access>> = {
  'agent-registry': { appends: ['agents', 'catalogue', 'people'] },
  approvals: { appends: ['approvals', 'permissions'] },
  'budget-ledger': { appends: ['budgets'] },
  gateway: { appends: [], subscribes: ['runyard.people.>'] },
  knowledge: { appends: ['knowledge'] },
  'run-executor': {
    appends: ['runs', 'conversations', 'bulk'],
    takes: [QUEUES.requests, QUEUES.work],
    publishes: ['runyard.work.>', 'runyard.presence.>', 'runyard.wake.>', 'runyard.answers.>'],
    subscribes: ['runyard.presence.run-executor.*', 'runyard.wake.run-executor.*'],
  },
  scheduler: { appends: ['schedules'], subscribes: ['runyard.answers.slots.>'] },
  tasks: { appends: ['tasks'], subscribes: ['runyard.answers.tasks.>', 'runyard.tasks.>'] },
};

/** Applies streams, migrates, repairs: the installation itself and its operators. */
export const OPERATOR = 'operator';

export interface Permissions {
  publish: string[];
  subscribe: string[];
}

/** Subjects of a service, as the server's configuration wants them. Throws on a service that has no row. */
export function permissionsOf(service: string): Permissions {
  const access = ACCESS[service];
  if (!access) throw new Error(`${service} has no row in deploy/nats/access.ts`);
  const { appends, takes = [], publishes = [], subscribes = [] } = access;
  const logs = [...new Set(Object.values(CONTEXT_STREAMS))];
  return {
    publish: [
      ...appends.map((context) => ['runyard', context, '>'].join('.')),
      ...publishes,
      'runyard.requests.*',
      'runyard.dead.>',
      'runyard.rpc.>',
      '_INBOX.>',
      '$JS.API.INFO',
      '$JS.API.STREAM.INFO.*',
      ...[...logs, ...takes].flatMap(reading),
      ...takes.map((queue) => `$JS.ACK.${queue}.>`),
    ],
    subscribe: ['_INBOX.>', rpcSubject(service, '>'), ...subscribes],
  };
}

/** What reading a stream takes: consumers of one's own, single messages. */
const reading = (stream: string): string[] => [
  `$JS.API.CONSUMER.*.${stream}`,
  `$JS.API.CONSUMER.*.${stream}.>`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.>`,
  `$JS.API.STREAM.MSG.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}.>`,
];

/** Name of the variable that holds a user's password. */
export const passwordVariable = (user: string): string =>
  `NATS_${user.toUpperCase().replaceAll('-', '_')}_PASSWORD`;

/**
 * A password as its variable must hold it for the server. The server parses the value like a piece of its configuration:
 * unquoted, `-a…` and `7e5…` are broken numbers.
 */
export const passwordValue = (password: string): string => JSON.stringify(password);

/** The `authorization` block of a server: one user a service; passwords come from the environment ({@link passwordValue}). */
export function authorization(services: readonly string[] = Object.keys(ACCESS)): string {
  const users = services.map((service) => {
    const { publish, subscribe } = permissionsOf(service);
    return [
      `    {`,
      `      user: ${service}`,
      `      password: $${passwordVariable(service)}`,
      `      permissions {`,
      `        publish: ${JSON.stringify(publish)}`,
      `        subscribe: ${JSON.stringify(subscribe)}`,
      `      }`,
      `    }`,
    ].join('\n');
  });
  const operator = `    { user: ${OPERATOR}, password: $${passwordVariable(OPERATOR)} }`;
  return ['authorization {', '  users = [', operator, ...users, '  ]', '}', ''].join('\n');
}
