/** What a child process needs of the environment beside its own configuration. */
export const inherited = (env: NodeJS.ProcessEnv = process.env): Record<string, string> =>
  Object.fromEntries(
    ['PATH', 'HOME', 'TMPDIR', 'NATS_BIN'].flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  );
