import { authorization } from './access';

/**
 * Configuration of a server in a container: durable by default (an acknowledged event is on disk), one user a service. `npm run
 * generate:nats` writes it to deploy/docker/nats.conf.
 */
export const containerConfiguration = (): string => configuration('server_name: runyard-1');

/** The same for one of several servers in pods, each under the name of its own: `$POD_NAME` of the environment. */
export const clusterConfiguration = (hosts: readonly string[]): string =>
  configuration(
    clusterBlock(
      '$POD_NAME',
      6222,
      hosts.map((host) => `${host}:6222`),
    ),
  );

/**
 * How servers find each other. Routes ask for no password, since the server fills none into an address: nobody but servers
 * may reach the port.
 */
export const clusterBlock = (name: string, port: number, addresses: readonly string[]): string =>
  `server_name: ${name}

cluster {
  name: runyard
  port: ${port}
  # An address of a server that is not up yet is tried again.
  connect_retries: 30
  routes: [
${addresses.map((address) => `    nats://${address}`).join('\n')}
  ]
}`;

const configuration = (
  server: string,
): string => `# Made by "npm run generate:nats" from deploy/nats/access.ts; change it there.
port: 4222
http_port: 8222
${server}
max_payload: 1MB

jetstream {
  store_dir: /data
  # An acknowledged event survives power loss (docs/operations.md, "Durability").
  sync_interval: always
}

# A lost host is noticed after two missed pings (protocol P3.4).
ping_interval: 5s
ping_max: 2

${authorization()}`;
