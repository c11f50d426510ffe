import { stringify } from 'yaml';
import {
  busDoors,
  busServers,
  CLUSTER_SIZE,
  clusteredConfiguration,
  configMap,
  singleConfiguration,
} from './bus';
import { networkPolicies } from './networks';
import { database } from './postgres';
import { deployment, door, LABEL, labels, prepareJob, SERVICE_NAMES } from './services';
import type { Manifest } from './services';

// Every file below deploy/k8s/, by its path.

const HEAD =
  '# Made by "npm run generate:k8s" from deploy/k8s/*.ts; change it there, or patch it in an overlay of yours.\n';
const file = (...documents: object[]): string =>
  HEAD +
  documents
    .map((one) => stringify(one, { aliasDuplicateObjects: false, lineWidth: 0, singleQuote: true }))
    .join('---\n');

const kustomization = (resources: readonly string[], more: object = {}): string =>
  file({ apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources, ...more });

/** Two processes of a service at least, on two nodes where there are two, and one of them at all times. */
const doubled = (service: string): object[] => [
  {
    target: { kind: 'Deployment', name: service },
    patch: stringify([
      { op: 'replace', path: '/spec/replicas', value: 2 },
      { op: 'add', path: '/spec/template/spec/topologySpreadConstraints', value: [spread(service)] },
    ]),
  },
];

const spread = (name: string) => ({
  maxSkew: 1,
  topologyKey: 'kubernetes.io/hostname',
  whenUnsatisfiable: 'ScheduleAnyway',
  labelSelector: { matchLabels: { [LABEL]: name } },
});

const budget = (name: string, spec: object): Manifest => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, labels: labels(name) },
  spec: { ...spec, selector: { matchLabels: { [LABEL]: name } } },
});

const clusterPatches = (): object[] => [
  ...SERVICE_NAMES.flatMap(doubled),
  {
    target: { kind: 'StatefulSet', name: 'nats' },
    patch: stringify([
      { op: 'replace', path: '/spec/replicas', value: CLUSTER_SIZE },
      // Three copies on one node are one copy.
      {
        op: 'add',
        path: '/spec/template/spec/topologySpreadConstraints',
        value: [{ ...spread('nats'), whenUnsatisfiable: 'DoNotSchedule' }],
      },
    ]),
  },
  {
    target: { kind: 'Job', labelSelector: `${LABEL}=prepare` },
    patch: stringify([{ op: 'replace', path: '/spec/template/spec/containers/0/env/2/value', value: '3' }]),
  },
];

/** Path below deploy/k8s/ → text. */
export function manifestFiles(): Readonly<Record<string, string>> {
  const services = SERVICE_NAMES.map((service) => [
    `base/${service}.yaml`,
    service === 'gateway' ? file(deployment(service), door()) : file(deployment(service)),
  ]);
  const resources = [
    ...SERVICE_NAMES.map((service) => `${service}.yaml`),
    'nats.yaml',
    'network-policies.yaml',
    'prepare.yaml',
  ];
  return {
    ...Object.fromEntries(services),
    'base/nats.yaml': file(busServers(), ...busDoors()),
    'base/network-policies.yaml': file(...networkPolicies()),
    'base/prepare.yaml': file(prepareJob()),
    'base/kustomization.yaml': kustomization(resources),
    'overlays/single/kustomization.yaml': kustomization(['../../base', 'nats-config.yaml', 'postgres.yaml']),
    'overlays/single/nats-config.yaml': file(configMap(singleConfiguration())),
    'overlays/single/postgres.yaml': file(...database()),
    'overlays/cluster/kustomization.yaml': kustomization(
      ['../../base', 'nats-config.yaml', 'disruptions.yaml'],
      { patches: clusterPatches() },
    ),
    'overlays/cluster/nats-config.yaml': file(configMap(clusteredConfiguration())),
    'overlays/cluster/disruptions.yaml': file(
      ...SERVICE_NAMES.map((service) => budget(service, { minAvailable: 1 })),
      budget('nats', { maxUnavailable: 1 }),
    ),
  };
}
