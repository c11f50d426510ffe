import { DOMAIN, HANDLERS, PROJECTIONS, plant, unique } from './probe';

const imports = (folder: string, specifier: string, because: string) =>
  plant('runyard/rooms', unique(folder), `import '${specifier}';\n`, because);

/** The table of rooms, a violation for each refusal. */
export const ROOM_PROBES = [
  imports('libs/contracts/src', '@nestjs/common', 'contracts never import Nest'),
  imports('libs/contracts/src', 'node:crypto', 'contracts never import Node'),
  imports('libs/contracts/src', '@runyard/event-log', 'contracts never import anything of ours'),
  imports('libs/event-log/src', '@runyard/persistence', 'event-log never imports persistence'),
  imports('libs/event-log/src', '../../../apps/alpha/src/domain/run', 'event-log never imports an app'),
  imports('libs/event-log/src', '@nestjs/common', 'event-log never imports Nest'),
  imports('libs/persistence/src', '@nats-io/jetstream', "persistence never imports the event log's client"),
  imports('libs/persistence/src', '@runyard/event-log', 'persistence never imports event-log'),
  imports('libs/persistence/src', '../../../apps/alpha/src/domain/run', 'persistence never imports an app'),
  imports('libs/service/src', '../../../apps/alpha/src/domain/run', 'service never imports an app'),
  imports('libs/service/src', '../../contracts/src/subjects', 'libraries are imported by their public name'),
  imports(HANDLERS, '@runyard/contracts/src/subjects', 'libraries are imported by their public name'),
  imports(HANDLERS, '@runyard/testing', 'testing is imported by specs only'),
  imports('libs/service/src', '@runyard/testing', 'testing is imported by specs only'),
  imports('bench', '@runyard/testing', 'testing is imported by specs only'),
  imports(DOMAIN, '@nestjs/common', 'a domain never imports Nest'),
  imports(DOMAIN, 'typeorm', 'a domain never imports TypeORM'),
  imports(DOMAIN, '@nats-io/transport-node', 'a domain never imports NATS'),
  imports(DOMAIN, 'node:crypto', 'a domain never imports Node'),
  imports(DOMAIN, 'fs', 'a domain never imports Node, whatever the spelling'),
  imports(DOMAIN, '@runyard/persistence', 'a domain imports contracts and itself only'),
  imports(DOMAIN, '../handlers/intake', 'a domain never imports handlers'),
  imports(DOMAIN, '../projections/runs.queries', 'a domain never imports projections'),
  imports(PROJECTIONS, '../domain/run', 'projections never import the domain'),
  imports(PROJECTIONS, '../handlers/intake', 'projections never import handlers'),
  imports(PROJECTIONS, '@nestjs/common', 'projections import contracts and persistence only'),
  imports(HANDLERS, '../projections/run.entity', 'handlers never import entities'),
  imports(HANDLERS, 'typeorm', 'handlers reach storage through queries and libraries'),
  imports(HANDLERS, '@nats-io/jetstream', 'handlers reach the log through event-log'),
  imports(HANDLERS, '../../../beta/src/domain/agent', 'an app never imports another app'),
  imports('apps/alpha/src/models', 'pg', 'other folders of an app follow the rules of handlers'),
  imports(
    'apps/cli/src',
    '../../alpha/src/handlers/intake',
    "the command line hosts an app's wiring, not its insides",
  ),
  imports(
    'deploy/local',
    '../../apps/alpha/src/domain/run',
    "the launcher hosts an app's wiring, not its insides",
  ),
  plant(
    'runyard/rooms',
    `${DOMAIN}/run.spec.ts`,
    "import '../../../beta/src/domain/agent';\n",
    'a spec never imports another app',
  ),
  plant(
    'runyard/rooms',
    unique(DOMAIN),
    "export const load = () => import('node:fs');\n",
    'a dynamic import is an import',
  ),
  plant(
    'runyard/rooms',
    unique(DOMAIN),
    "export type Stats = import('node:fs').Stats;\n",
    'an imported type is an import',
  ),
  plant('runyard/rooms', unique(DOMAIN), "export * from 'zod';\n", 'a re-export is an import'),
  plant(
    'runyard/rooms',
    unique(DOMAIN),
    "export const fs: unknown = require('node:fs');\n",
    'require() is an import',
  ),
];
