import { DOMAIN, HANDLERS, plant, statement } from './probe';

/** Names of files and types. */
export const NAME_PROBES = [
  plant('runyard/names', `${HANDLERS}/utils.ts`, 'export {};\n', 'utils says nothing'),
  plant('runyard/names', `${HANDLERS}/run-helper.ts`, 'export {};\n', 'helper says nothing'),
  plant('runyard/names', 'libs/common/src/index.ts', 'export {};\n', 'common says nothing'),
  plant('runyard/names', `${HANDLERS}/run.service.ts`, 'export {};\n', 'service is no file role'),
  plant('runyard/names', `${DOMAIN}/run.entity.ts`, 'export {};\n', 'a domain file has no role'),
  plant('runyard/names', `${HANDLERS}/RunList.ts`, 'export {};\n', 'file names are kebab-case'),
  statement('runyard/names', 'export interface IRun { id: string }', 'a prefix says nothing'),
  statement('runyard/names', 'export class RunManager {}', 'manager says nothing'),
  statement('runyard/names', 'export abstract class BaseHandler {}', 'base says nothing'),
];
