/** A file that breaks one rule (or none) and why it does so. */
export interface Probe {
  file: string;
  code: string;
  because: string;
}

let count = 0;
/** A file of its own for each probe, so that a report can be nobody else's. */
export const unique = (folder: string) => `${folder}/probe-${++count}.ts`;

export const plant = (rule: string, file: string, code: string, because: string) => ({
  rule,
  file,
  code,
  because,
});

export const DOMAIN = 'apps/alpha/src/domain';
export const HANDLERS = 'apps/alpha/src/handlers';
export const PROJECTIONS = 'apps/alpha/src/projections';

export const statement = (rule: string, code: string, because: string) =>
  plant(rule, unique(HANDLERS), `${code}\n`, because);
