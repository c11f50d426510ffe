// No cluster where this is developed: what can be proved about the manifests without one is proved here.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import Ajv from 'ajv';
import type { ValidateFunction } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { SERVICES } from '../local/service-list';
import { manifestFiles } from './files';
import { databasePassword } from '../postgres/prepare-database';
import { LABEL } from './services';

jest.setTimeout(120_000);

interface Env {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef?: { name: string; key: string } };
}
interface Probe {
  httpGet?: { path: string; port: string };
}
interface Container {
  name: string;
  image: string;
  env: Env[];
  ports?: { name: string }[];
  resources?: { requests?: object; limits?: object };
  securityContext?: Record<string, unknown>;
  volumeMounts: { name: string }[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
}
interface Pod {
  containers: Container[];
  securityContext: Record<string, unknown>;
  volumes?: { name: string }[];
  automountServiceAccountToken: boolean;
}
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  spec: {
    replicas?: number;
    selector?: Record<string, unknown>;
    podSelector?: object;
    template?: { metadata: { labels: Record<string, string> }; spec: Pod };
    volumeClaimTemplates?: { metadata: { name: string } }[];
  };
}

const folder = __dirname;
const read = (file: string): string => fs.readFileSync(path.join(folder, file), 'utf8');
const documents = (text: string): Manifest[] => parseAllDocuments(text).map((one) => one.toJS() as Manifest);

const files = manifestFiles();
const manifests = Object.entries(files)
  .filter(([file]) => !file.endsWith('kustomization.yaml'))
  .flatMap(([file, text]) => documents(text).map((one) => [`${file} ${one.kind}`, one] as const));
const workloads = manifests.filter(([, { spec }]) => spec?.template);
const podsOf = ({ spec }: Manifest): Pod => spec.template!.spec;

test('the committed files are what the generator makes, none more', () => {
  const committed = (fs.readdirSync(folder, { recursive: true }) as string[]).filter((file) =>
    file.endsWith('.yaml'),
  );
  expect(committed.toSorted()).toEqual(Object.keys(files).toSorted());
  for (const [file, text] of Object.entries(files)) expect([file, read(file)]).toEqual([file, text]);
});

const GROUPS: Record<string, string> = {
  v1: 'core/v1',
  'apps/v1': 'apps/v1',
  'batch/v1': 'batch/v1',
  'policy/v1': 'policy/v1',
  'networking.k8s.io/v1': 'networking/v1',
};

const checks = new Map<string, ValidateFunction>();

/** Reads the types of all kinds once: it takes seconds. */
function learn(kinds: readonly string[]): void {
  if (checks.size > 0) return;
  const script = path.join(folder, 'schemas.mjs');
  const { stdout } = spawnSync(process.execPath, [script, ...kinds], {
    encoding: 'utf8',
    maxBuffer: 100_000_000,
  });
  const ajv = new Ajv({ strict: false, logger: false });
  for (const [kind, schema] of Object.entries(JSON.parse(stdout) as Record<string, object>))
    checks.set(kind, ajv.compile(schema));
}

/** Errors of documents by Kubernetes' own types, closed: a member that no type knows is refused. */
function errorsOf(all: readonly (readonly [string, Manifest])[]): string[] {
  learn([...new Set(manifests.map(([, { apiVersion, kind }]) => `${GROUPS[apiVersion]}/${kind}`))]);
  return all.flatMap(([where, one]) => {
    const check = checks.get(one.kind)!;
    return check(one) ? [] : [`${where}: ${JSON.stringify(check.errors?.slice(0, 3))}`];
  });
}

describe('the structure', () => {
  test('is that of the Kubernetes API, 1.30, in every document and in every overlay after its patches', () => {
    const patched = ['single', 'cluster'].flatMap((overlay) =>
      built(overlay).map((one) => [`${overlay} ${one.kind}`, one] as const),
    );
    expect(errorsOf([...manifests, ...patched])).toEqual([]);
  });

  test('is refused where a member is misspelt', () => {
    const [where, one] = workloads[0]!;
    const wrong = { ...one, spec: { ...one.spec, replica: 1 } } as Manifest;
    expect(errorsOf([[where, wrong]]).join()).toContain('replica');
  });
});

test('every service of the product has a Deployment, and no other', () => {
  const names = workloads
    .filter(([, { kind }]) => kind === 'Deployment')
    .map(([, { metadata }]) => metadata.name);
  expect(names.toSorted()).toEqual(SERVICES.map(({ service }) => service as string).toSorted());
  const base = parse(read('base/kustomization.yaml')) as { resources: string[] };
  const inBase = Object.keys(files).filter(
    (file) => file.startsWith('base/') && !file.endsWith('kustomization.yaml'),
  );
  expect(base.resources.map((file) => `base/${file}`).toSorted()).toEqual(inBase.toSorted());
});

describe.each(workloads.map(([where, one]) => [where, podsOf(one), one] as const))(
  '%s',
  (_where, pod, one) => {
    test('runs as nobody in particular, on a system that it cannot change, within bounds', () => {
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(pod.automountServiceAccountToken).toBe(false);
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(container.resources).toMatchObject({
          requests: { cpu: expect.anything(), memory: expect.anything() },
          limits: { memory: expect.anything() },
        });
        expect(container.image).toMatch(/:\d+\.\d+(\.\d+)?(-\w+)?$/);
      }
    });

    test('mounts what it declares, and takes every secret by reference', () => {
      const claims = (one.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name);
      const volumes = [...(pod.volumes ?? []).map(({ name }) => name), ...claims];
      for (const { volumeMounts, env } of pod.containers) {
        expect(volumeMounts.map(({ name }) => name).filter((name) => !volumes.includes(name))).toEqual([]);
        const secret = env.filter(({ name }) => /PASSWORD|DATABASE.*URL/.test(name));
        expect(
          secret.filter(({ value, valueFrom }) => value !== undefined || !valueFrom?.secretKeyRef),
        ).toEqual([]);
      }
    });
  },
);

const deployments = workloads.filter(([, { kind }]) => kind === 'Deployment');

test.each(deployments)(
  '%s is asked on the health routes, and configured by variables that are documented',
  (_, one) => {
    const documented = fs.readFileSync(path.join(folder, '../../docs/configuration.md'), 'utf8');
    const [container] = podsOf(one).containers;
    expect(container!.livenessProbe?.httpGet).toEqual({ path: '/live', port: 'ops' });
    expect(container!.readinessProbe?.httpGet).toEqual({ path: '/ready', port: 'ops' });
    expect(container!.ports!.map(({ name }) => name)).toContain('ops');
    const names = container!.env.map(({ name }) => name);
    expect(names.filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
    expect(names).toEqual(
      expect.arrayContaining([
        'NATS_URL',
        'NATS_USER',
        'NATS_PASSWORD',
        'DATABASE_URL',
        'DATABASE_ACROSS_URL',
      ]),
    );
    // The owner's rights are for the Job alone.
    expect(names).not.toContain('DATABASE_OWNER_URL');
  },
);

test('the Job gets what its step reads', () => {
  const job = workloads.find(([, { kind }]) => kind === 'Job')![1];
  const names = podsOf(job).containers[0]!.env.map(({ name }) => name);
  const passwords = SERVICES.map(({ service }) => databasePassword(service));
  expect(names.toSorted()).toEqual(
    [
      'NATS_URL',
      'NATS_USER',
      'NATS_PASSWORD',
      'RUNYARD_STREAM_REPLICAS',
      'DATABASE_OWNER_URL',
      ...passwords,
    ].toSorted(),
  );
  expect(fs.existsSync(path.join(folder, '../docker/prepare.ts'))).toBe(true);
});

test('every name that a selector looks for is that of a pod', () => {
  const pods = new Set(workloads.map(([, { spec }]) => spec.template!.metadata.labels[LABEL]));
  const wanted = manifests.flatMap(([, { spec }]) => {
    const text = JSON.stringify([spec]);
    const equal = [...text.matchAll(/"app\.kubernetes\.io\/name":"([\w-]+)"/g)].map(([, name]) => name!);
    const listed = [...text.matchAll(/"operator":"In","values":(\[[^\]]*\])/g)].flatMap(
      ([, list]) => JSON.parse(list!) as string[],
    );
    return [...equal, ...listed];
  });
  expect([...new Set(wanted)].filter((name) => !pods.has(name))).toEqual([]);
});

interface Patch {
  target: { kind: string; name?: string; labelSelector?: string };
  patch: string;
}

/** What kustomize makes of an overlay: its resources, with JSON patches (RFC 6902, `add` and `replace`) applied. */
function built(overlay: string): Manifest[] {
  const at = path.join(folder, 'overlays', overlay);
  const { resources, patches = [] } = parse(fs.readFileSync(path.join(at, 'kustomization.yaml'), 'utf8')) as {
    resources: string[];
    patches?: Patch[];
  };
  const found = resources.flatMap((resource) => {
    if (resource.endsWith('.yaml')) return documents(fs.readFileSync(path.join(at, resource), 'utf8'));
    const base = parse(fs.readFileSync(path.join(at, resource, 'kustomization.yaml'), 'utf8')) as {
      resources: string[];
    };
    return base.resources.flatMap((file) =>
      documents(fs.readFileSync(path.join(at, resource, file), 'utf8')),
    );
  });
  for (const { target, patch } of patches) {
    const targets = found.filter(
      ({ kind, metadata }) =>
        kind === target.kind &&
        (!target.name || metadata.name === target.name) &&
        (!target.labelSelector || target.labelSelector === `${LABEL}=${metadata.labels?.[LABEL]}`),
    );
    expect([target, targets.length]).toEqual([target, 1]);
    for (const step of parse(patch) as { op: string; path: string; value: unknown }[])
      change(targets[0]!, step);
  }
  return found;
}

function change(
  one: object,
  { op, path: pointer, value }: { op: string; path: string; value: unknown },
): void {
  const keys = pointer.slice(1).split('/');
  const last = keys.pop()!;
  const parent = keys.reduce((at, key) => at[key] as Record<string, unknown>, one as Record<string, unknown>);
  expect([pointer, op === 'add' || last in parent]).toEqual([pointer, true]);
  parent[last] = value;
}

describe('overlays', () => {
  test('single: one of everything, with a Postgres', () => {
    const all = built('single');
    expect(all.filter(({ spec }) => (spec?.replicas ?? 1) !== 1)).toEqual([]);
    expect(
      all
        .filter(({ kind }) => kind === 'StatefulSet')
        .map(({ metadata }) => metadata.name)
        .toSorted(),
    ).toEqual(['nats', 'postgres']);
  });

  test('cluster: three servers of the bus on nodes of their own, every stream three times, two of each service', () => {
    const all = built('cluster');
    const of = (kind: string, name?: string) =>
      all.filter((one) => one.kind === kind && (!name || one.metadata.name === name));
    expect(of('StatefulSet', 'nats')[0]!.spec.replicas).toBe(3);
    expect(JSON.stringify(of('StatefulSet', 'nats')[0])).toContain('"whenUnsatisfiable":"DoNotSchedule"');
    const replicas = podsOf(of('Job')[0]!).containers[0]!.env.find(
      ({ name }) => name === 'RUNYARD_STREAM_REPLICAS',
    );
    expect(replicas?.value).toBe('3');
    expect(of('Deployment').map(({ spec }) => spec.replicas)).toEqual(SERVICES.map(() => 2));
    const protectedOnes = of('PodDisruptionBudget').map(({ metadata }) => metadata.name);
    expect(protectedOnes.toSorted()).toEqual(
      [...SERVICES.map(({ service }) => service as string), 'nats'].toSorted(),
    );
    const { data } = of('ConfigMap')[0] as unknown as { data: Record<string, string> };
    expect(data['nats.conf']).toMatch(/sync_interval: always[^]*/);
    expect(data['nats.conf']!.match(/nats:\/\/nats-\d\.nats-servers:6222/g)).toHaveLength(3);
  });
});
