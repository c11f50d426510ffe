import { ACCESS, OPERATOR, passwordVariable } from '../nats/access';
import { clusterConfiguration, containerConfiguration } from '../nats/configuration';
import { CONFINED, LABEL, fromSecret, labels, podSecurity } from './services';
import type { Manifest } from './services';

// The bus: one server, or three that keep every stream three times.

const IMAGE = 'nats:2.10.27-alpine';
const USER = 1000;
export const CLUSTER_SIZE = 3;

/** Users of the bus; passwords are quoted values, since the server parses them (deploy/nats/access.ts). */
const passwords = [OPERATOR, ...Object.keys(ACCESS)].map((user) =>
  fromSecret(passwordVariable(user), 'runyard-nats'),
);

const health = (path: string, more: object) => ({ httpGet: { path, port: 'monitor' }, ...more });

const container = {
  name: 'nats',
  image: IMAGE,
  args: ['-c', '/etc/nats/nats.conf'],
  env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }, ...passwords],
  ports: [
    { name: 'client', containerPort: 4222 },
    { name: 'route', containerPort: 6222 },
    { name: 'monitor', containerPort: 8222 },
  ],
  // A server that recovers large streams is alive long before it is ready.
  startupProbe: health('/healthz?js-server-only=true', { periodSeconds: 5, failureThreshold: 90 }),
  livenessProbe: health('/healthz?js-enabled-only=true', { periodSeconds: 15, failureThreshold: 3 }),
  readinessProbe: health('/healthz?js-server-only=true', { periodSeconds: 5, failureThreshold: 2 }),
  resources: { requests: { cpu: '250m', memory: '512Mi' }, limits: { memory: '2Gi' } },
  securityContext: CONFINED,
  volumeMounts: [
    { name: 'data', mountPath: '/data' },
    { name: 'config', mountPath: '/etc/nats', readOnly: true },
    { name: 'tmp', mountPath: '/tmp' },
  ],
};

export const busServers = (): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'nats', labels: labels('nats') },
  spec: {
    serviceName: 'nats-servers',
    replicas: 1,
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: { [LABEL]: 'nats' } },
    template: {
      metadata: { labels: labels('nats') },
      spec: {
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: podSecurity(USER),
        terminationGracePeriodSeconds: 60,
        containers: [container],
        volumes: [
          { name: 'config', configMap: { name: 'nats-config' } },
          { name: 'tmp', emptyDir: { sizeLimit: '16Mi' } },
        ],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '20Gi' } } },
      },
    ],
  },
});

export const busDoors = (): Manifest[] => [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'nats', labels: labels('nats') },
    spec: { selector: { [LABEL]: 'nats' }, ports: [{ name: 'client', port: 4222, targetPort: 'client' }] },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'nats-servers', labels: labels('nats') },
    // Servers find each other before they are ready.
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: { [LABEL]: 'nats' },
      ports: [
        { name: 'client', port: 4222, targetPort: 'client' },
        { name: 'route', port: 6222, targetPort: 'route' },
      ],
    },
  },
];

export const configMap = (conf: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'nats-config', labels: labels('nats') },
  data: { 'nats.conf': conf },
});

export const singleConfiguration = (): string => containerConfiguration();
export const clusteredConfiguration = (): string =>
  clusterConfiguration(Array.from({ length: CLUSTER_SIZE }, (_, i) => `nats-${i}.nats-servers`));
