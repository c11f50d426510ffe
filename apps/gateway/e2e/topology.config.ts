/** How the product runs under the end-to-end specs: `RUNYARD_TOPOLOGY=processes` gives every service a process of its own. */
export const inProcesses = (env: NodeJS.ProcessEnv = process.env): boolean =>
  env.RUNYARD_TOPOLOGY === 'processes';

export const pathOf = (env: NodeJS.ProcessEnv = process.env): string => env.PATH ?? '';
