import { differences, MINIMUM_SERVER, streamOperations } from '@runyard/event-log';
import { streamDefinitions } from '../../../deploy/nats/streams';
import { newestOf, storedCheckpoints } from './checkpoints';
import type { StoredCheckpoint } from './checkpoints';
import { examples, whole } from './command';
import type { Commands } from './command';
import { required } from './config';
import { CLOCK_MS, KEEP_TIME, bus } from './doctor-bus';
import { schemas } from './doctor-database';
import { secrets } from './doctor-secrets';
import { Installation } from './installation';
import { EXIT } from './terminal';
import type { Terminal } from './terminal';

/** What was looked at, and what to do where it is not as it should be. */
export interface Finding {
  what: string;
  found: string;
  /** Undefined: it is as it should be. */
  remedy?: string;
}

export const doctorCommands: Commands = (program, line) => {
  program
    .command('doctor')
    .summary('look at servers, streams, readers, clocks and rights, and say what to mend')
    .description('Looks at everything an installation stands on and says the remedy. Changes nothing.')
    .option('--replicas <n>', 'copies that streams are meant to have', '1')
    .option('--json', 'one finding a line, as JSON')
    .addHelpText('before', examples(['runyard doctor', 'is everything as it should be?']))
    .action((options: { replicas: string; json?: boolean }) =>
      line.run(() =>
        Installation.use(line.file(), async (installation) => {
          const findings = [
            ...(await log(installation, whole(options.replicas))),
            ...(await bus(await installation.bus(), required(installation.connection, 'nats_url'))),
            ...(await database(installation)),
            ...(await schemas(installation)),
            ...(await readers(installation)),
            ...(await secrets(installation)),
          ];
          for (const one of findings) tell(one, options.json, line.terminal);
          return findings.some(({ remedy }) => remedy) ? EXIT.found : EXIT.ok;
        }),
      ),
    );
};

function tell(finding: Finding, json: boolean | undefined, terminal: Terminal): void {
  const { what, found, remedy } = finding;
  if (json) return terminal.out(JSON.stringify(finding));
  terminal.out(`${remedy ? 'MEND' : 'ok  '}  ${what}: ${found}`);
  if (remedy) terminal.out(`      ${remedy}`);
}

async function log(installation: Installation, replicas: number): Promise<Finding[]> {
  const { connection } = await installation.bus();
  const operations = streamOperations(connection);
  const version = connection.info?.version ?? 'unknown';
  // An older server is refused before this is reached.
  const findings: Finding[] = [{ what: 'NATS server', found: `${version} (from ${MINIMUM_SERVER} on)` }];
  try {
    for (const definition of streamDefinitions({ replicas })) {
      const report = await operations.report(definition.name);
      const wrong = report ? differences(definition, report.config) : [];
      const remedy = report
        ? 'Apply the stream definitions again (a start does)'
        : `Apply the stream definitions; if it held something: runyard archive restore ${definition.name}`;
      findings.push({
        what: `stream ${definition.name}`,
        found: report ? wrong.join('; ') || `${report.messages} messages` : 'is missing',
        ...((!report || wrong.length > 0) && { remedy }),
      });
    }
    return findings;
  } finally {
    operations.close();
  }
}

async function database({ db }: Installation): Promise<Finding[]> {
  const [row] = await db.read((tx) =>
    tx.query<{ version: string; now: number; may: boolean; bypassing: string | null }>(
      `SELECT current_setting('server_version') AS version, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
         has_parameter_privilege('session_replication_role', 'SET') AS may,
         (SELECT string_agg(rolname, ', ') FROM pg_roles
          WHERE rolname LIKE 'runyard\\_%' AND (rolsuper OR rolbypassrls)) AS bypassing`,
    ),
  );
  const apart = Math.abs(Date.now() - (row?.now ?? 0));
  return [
    { what: 'Postgres', found: row?.version ?? 'unknown' },
    {
      what: 'clock',
      found: `the database's is ${Math.round(apart)} ms from this machine's`,
      ...(apart > CLOCK_MS && { remedy: KEEP_TIME }),
    },
    {
      what: 'rights of services',
      found: row?.bypassing ?? 'bound by row-level security',
      ...(row?.bypassing && { remedy: `ALTER ROLE … NOSUPERUSER NOBYPASSRLS for ${row.bypassing}` }),
    },
    {
      what: 'rights of the owner',
      found: row?.may ? 'may switch rows over' : 'may not switch triggers off, which replay needs',
      ...(!row?.may && {
        remedy: 'As a superuser: GRANT SET ON PARAMETER session_replication_role TO <owner>',
      }),
    },
  ];
}

/** A reader that is further behind than this, and has not moved for a minute, stands still. */
const BEHIND = 1_000;
const STILL_MS = 60_000;

async function readers(installation: Installation): Promise<Finding[]> {
  const operations = streamOperations((await installation.bus()).connection);
  try {
    const findings: Finding[] = [];
    for (const one of newestOf(await installation.db.read(storedCheckpoints))) {
      const stream = await operations.report(one.stream);
      const lag = (stream?.lastSequence ?? 0) - one.position;
      const still = Date.now() - Date.parse(one.updatedAt) > STILL_MS;
      const lost = stream !== undefined && stream.incarnation !== one.incarnation;
      const ahead = stream !== undefined && lag < 0;
      const place = ahead ? `${-lag} ahead of its end` : `${Math.max(0, lag)} behind`;
      findings.push({
        what: `${one.schema}.${one.projection}@${one.version}`,
        found: `${one.stream} at ${one.position}, ${place}${lost ? ', of another incarnation' : ''}`,
        ...((lost || ahead || (lag > BEHIND && still)) && { remedy: remedyOf(one, lost, ahead) }),
      });
    }
    return findings;
  } finally {
    operations.close();
  }
}

function remedyOf({ stream, projection }: StoredCheckpoint, lost: boolean, ahead: boolean): string {
  if (lost)
    return `The stream was made anew: runyard archive restore ${stream} if it is empty, else runyard replay ${projection}`;
  // What the rows have seen is in the archive, so the stream is the one that is wrong.
  if (ahead)
    return `The stream is older than the rows: stop the services, delete ${stream} on the log's server, then runyard archive restore ${stream}`;
  return 'See what its service says in its log and at /ready; start it where it is down';
}
