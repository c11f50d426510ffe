import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import type { McpServer } from '@runyard/contracts';
import { Misconfigured } from '../exchange.errors';
import type { HttpRules } from '../http/destination';
import { reasonOf } from '../outcomes';
import { secretValue } from '../secrets';
import type { SecretReader, ToolLog } from '../types';
import { commandAllowed, forbiddenVariable, type StdioCommand, type StdioServer } from './allow-list';
import { httpLink } from './http-transport';
import type { Link } from './link';
import { ServerProcess } from './server-process';
import { StdioTransport } from './stdio-transport';

export interface McpRules {
  /** Command lines that may be started; none by default. */
  stdioCommands: readonly StdioCommand[];
  /** Environment of the started servers, besides what their definition sets. Default: a PATH and a HOME, nothing of ours. */
  environment?: Readonly<Record<string, string>>;
  /** Where relative paths of command lines begin. Default: the working directory of this process. */
  workingDirectory?: string;
}

export interface LinkOptions {
  mcp: McpRules;
  http: HttpRules;
  secrets: SecretReader;
  log: ToolLog;
}

/** In the env of a definition, `secret:NAME` stands for the value of that secret: definitions are events, and hold no values. */
const SECRET_VALUE = /^secret:(.+)$/;

/** Starts or addresses a server. Throws Misconfigured. */
export async function linkTo(server: McpServer, org: string, options: LinkOptions): Promise<Link> {
  return server.transport === 'stdio' ? stdioLink(server, org, options) : remoteLink(server, org, options);
}

async function stdioLink(
  server: StdioServer,
  org: string,
  { mcp, secrets, log }: LinkOptions,
): Promise<Link> {
  if (!commandAllowed(server, mcp.stdioCommands)) {
    throw new Misconfigured(
      `MCP server ${server.name}: its command is not on this deployment's list of allowed commands`,
    );
  }
  const variable = forbiddenVariable(server);
  if (variable !== undefined)
    throw new Misconfigured(`MCP server ${server.name} may not set the variable ${variable}`);
  const env = {
    ...(mcp.environment ?? defaultEnvironment()),
    ...(await environmentOf(server, org, secrets)),
  };
  const given = await secretsOf(server, org, secrets);
  const started = await ServerProcess.start(server.command, server.args, env, mcp.workingDirectory).catch(
    (error: unknown) => {
      throw new Misconfigured(`MCP server ${server.name} cannot be started (${reasonOf(error)})`);
    },
  );
  return {
    transport: new StdioTransport(started),
    async end(client) {
      if (!started.alive) {
        const facts = {
          server: server.name,
          outcome: started.outcome,
          stderr: withoutSecrets(started.errorOutput, given),
        };
        log.warn(facts, 'MCP server ended');
      }
      await started.end();
      await client.close();
    },
  };
}

const defaultEnvironment = (): Record<string, string> => ({
  PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  HOME: tmpdir(),
  LANG: 'C.UTF-8',
});

async function environmentOf(
  server: StdioServer,
  org: string,
  secrets: SecretReader,
): Promise<Record<string, string>> {
  const resolved: Record<string, string> = {};
  for (const [name, value] of Object.entries(server.env ?? {})) {
    const secret = SECRET_VALUE.exec(value)?.[1];
    resolved[name] = secret === undefined ? value : await required(server, secret, org, secrets);
  }
  return resolved;
}

async function remoteLink(
  server: Exclude<McpServer, StdioServer>,
  org: string,
  { http, secrets }: LinkOptions,
): Promise<Link> {
  if (!URL.canParse(server.url)) throw new Misconfigured(`MCP server ${server.name}: its URL is not valid`);
  const token =
    server.credential === undefined ? undefined : await required(server, server.credential, org, secrets);
  return httpLink(new URL(server.url), token === undefined ? {} : { authorization: `Bearer ${token}` }, http);
}

async function required(
  server: McpServer,
  name: string,
  org: string,
  secrets: SecretReader,
): Promise<string> {
  const value = await secretValue(secrets, org, name);
  if (value === undefined)
    throw new Misconfigured(`MCP server ${server.name}: the credential "${name}" is not set`);
  return value;
}

/** What a server prints may hold what it was given. */
const withoutSecrets = (text: string, given: readonly { name: string; value: string }[]): string =>
  given.reduce((clean, { name, value }) => clean.replaceAll(value, `[secret ${name}]`), text);

/** Every secret that a server is given, for taking them out of its answers. */
export async function secretsOf(
  server: McpServer,
  org: string,
  secrets: SecretReader,
): Promise<{ name: string; value: string }[]> {
  const values = server.transport === 'stdio' ? Object.values(server.env ?? {}) : [];
  const names = values.flatMap((value) => SECRET_VALUE.exec(value)?.[1] ?? []);
  if (server.transport === 'http' && server.credential !== undefined) names.push(server.credential);
  const found = await Promise.all(
    names.map(async (name) => ({ name, value: await secretValue(secrets, org, name) })),
  );
  return found.flatMap(({ name, value }) => (value === undefined ? [] : [{ name, value }]));
}
