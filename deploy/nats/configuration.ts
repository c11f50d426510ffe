import { authorization } from './access';

/**
 * Configuration of a server in a container: durable by default (an acknowledged event is on disk), one user a service. `npm run
 * generate:nats` writes it to deploy/docker/nats.conf.
 */
export const containerConfiguration =
  (): string => `# Made by "npm run generate:nats" from deploy/nats/access.ts; change it there.
port: 4222
http_port: 8222
server_name: runyard-1
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
