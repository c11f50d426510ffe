import { CONFINED, LABEL, SERVICE_NAMES, fromSecret, labels, podSecurity } from './services';
import type { Manifest } from './services';

const USER = 999;

const container = {
  name: 'postgres',
  image: 'postgres:18.4-bookworm',
  env: [
    { name: 'POSTGRES_USER', value: 'runyard' },
    { name: 'POSTGRES_DB', value: 'runyard' },
    { name: 'POSTGRES_INITDB_ARGS', value: '--auth-host=scram-sha-256' },
    fromSecret('POSTGRES_PASSWORD', 'runyard-postgres'),
  ],
  ports: [{ name: 'sql', containerPort: 5432 }],
  readinessProbe: {
    exec: { command: ['pg_isready', '-h', '127.0.0.1', '-U', 'runyard', '-d', 'runyard'] },
    periodSeconds: 5,
  },
  resources: { requests: { cpu: '250m', memory: '512Mi' }, limits: { memory: '2Gi' } },
  securityContext: CONFINED,
  volumeMounts: [
    { name: 'data', mountPath: '/var/lib/postgresql' },
    { name: 'run', mountPath: '/var/run/postgresql' },
    { name: 'tmp', mountPath: '/tmp' },
  ],
};

const server = (): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'postgres', labels: labels('postgres') },
  spec: {
    serviceName: 'postgres',
    replicas: 1,
    selector: { matchLabels: { [LABEL]: 'postgres' } },
    template: {
      metadata: { labels: labels('postgres') },
      spec: {
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: podSecurity(USER),
        terminationGracePeriodSeconds: 60,
        containers: [container],
        volumes: [
          { name: 'run', emptyDir: {} },
          { name: 'tmp', emptyDir: {} },
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

const access = (): Manifest[] => [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'postgres', labels: labels('postgres') },
    spec: {
      clusterIP: 'None',
      selector: { [LABEL]: 'postgres' },
      ports: [{ name: 'sql', port: 5432, targetPort: 'sql' }],
    },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'database', labels: labels('postgres') },
    spec: {
      podSelector: { matchLabels: { [LABEL]: 'postgres' } },
      policyTypes: ['Ingress'],
      ingress: [
        {
          from: [
            {
              podSelector: {
                matchExpressions: [{ key: LABEL, operator: 'In', values: [...SERVICE_NAMES, 'prepare'] }],
              },
            },
          ],
          ports: [{ protocol: 'TCP', port: 5432 }],
        },
      ],
    },
  },
];

/** A Postgres for one node. Clusters bring one that is backed up and watched by whoever knows how. */
export const database = (): Manifest[] => [server(), ...access()];
