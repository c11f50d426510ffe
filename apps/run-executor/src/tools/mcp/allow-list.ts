import type { McpServer } from '@runyard/contracts';

export type StdioServer = Extract<McpServer, { transport: 'stdio' }>;

/**
 * A command line that may be started: command and arguments, as a list or as a text split at blanks. Exactly these
 * arguments, or, with `*` as the last one, any further ones: `npx -y @acme/stock *`. A tool's author is not the person who
 * decides what runs on this machine.
 */
export type StdioCommand = string | readonly string[];

export function commandAllowed({ command, args }: StdioServer, allowed: readonly StdioCommand[]): boolean {
  const wanted = [command, ...args];
  return allowed.some((entry) => {
    const words = typeof entry === 'string' ? entry.split(' ').filter(Boolean) : entry;
    const open = words.at(-1) === '*' && words.length > 1;
    const fixed = open ? words.slice(0, -1) : words;
    return fixed.every((word, i) => word === wanted[i]) && (open || wanted.length === fixed.length);
  });
}

/** Variables that make a permitted program load or run another one. */
const TAKES_OVER =
  /^(PATH|NODE_OPTIONS|NODE_PATH|LD_.*|DYLD_.*|PYTHON.*|PERL.*|RUBY.*|BASH_ENV|ENV|SHELLOPTS|IFS|GIT_.*|JAVA_TOOL_OPTIONS|npm_config_.*|NPM_CONFIG_.*)$/;

/** The first variable of a definition that may not be set; undefined: all may. */
export function forbiddenVariable({ env }: StdioServer): string | undefined {
  return Object.keys(env ?? {}).find(
    (name) => TAKES_OVER.test(name) || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name),
  );
}
