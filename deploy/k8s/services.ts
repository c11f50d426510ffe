import { ACCESS } from '../nats/access';
import { databasePassword } from '../postgres/prepare-database';

// Manifests of the services, made from the one list that the bus knows them by, so that none can be forgotten.

export const VERSION = '0.1.0';
const OPS = 9090;
const API = 8080;

export type Manifest = { apiVersion: string; kind: string } & Record<string, unknown>;

export const LABEL = 'app.kubernetes.io/name';
const PART_OF = { 'app.kubernetes.io/part-of': 'runyard' };
export const labels = (name: string) => ({ [LABEL]: name, ...PART_OF });

/** Neither root, nor more rights than it starts with, nor a system that it could change. */
export const CONFINED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};
/** `uid`: of the image's own user. */
export const podSecurity = (uid: number) => ({
  runAsNonRoot: true,
  runAsUser: uid,
  runAsGroup: uid,
  fsGroup: uid,
  seccompProfile: { type: 'RuntimeDefault' },
});

export const fromSecret = (name: string, secret: string, key = name) => ({
  name,
  valueFrom: { secretKeyRef: { name: secret, key } },
});

/** Node's user in the image. */
const NODE = 1000;
/** What a process holds at rest, and where it is stopped rather than its neighbours. */
const RESOURCES = { requests: { cpu: '100m', memory: '192Mi' }, limits: { memory: '512Mi' } };
/** Executors hold the runs that they drive. */
const EXECUTOR = { requests: { cpu: '250m', memory: '384Mi' }, limits: { memory: '1Gi' } };

export const SERVICE_NAMES: readonly string[] = Object.keys(ACCESS).toSorted();

const environment = (service: string) => [
  { name: 'NATS_URL', value: 'nats://nats:4222' },
  { name: 'NATS_USER', value: service },
  ...['NATS_PASSWORD', 'DATABASE_URL', 'DATABASE_ACROSS_URL'].map((name) =>
    fromSecret(name, `runyard-${service}`),
  ),
  { name: 'RUNYARD_OPS_HOST', value: '0.0.0.0' },
  { name: 'RUNYARD_OPS_PORT', value: String(OPS) },
  { name: 'RUNYARD_SHUTDOWN_SECONDS', value: '20' },
  ...(service === 'gateway'
    ? [
        { name: 'RUNYARD_HTTP_HOST', value: '0.0.0.0' },
        { name: 'RUNYARD_HTTP_PORT', value: String(API) },
      ]
    : []),
  ...(service === 'run-executor' ? [{ name: 'RUNYARD_SECRETS_DIR', value: '/secrets' }] : []),
];

const probe = (path: string, more: object) => ({ httpGet: { path, port: 'ops' }, ...more });

/** Credentials of tools, one file a secret: `<org id>/<name>`; absent where there are none. */
const TOOL_SECRETS = { name: 'tool-secrets', secret: { secretName: 'runyard-tool-secrets', optional: true } };

function container(service: string) {
  const isExecutor = service === 'run-executor';
  return {
    name: service,
    image: `runyard/${service}:${VERSION}`,
    env: environment(service),
    ports: [
      { name: 'ops', containerPort: OPS },
      ...(service === 'gateway' ? [{ name: 'http', containerPort: API }] : []),
    ],
    startupProbe: probe('/live', { periodSeconds: 2, failureThreshold: 60 }),
    livenessProbe: probe('/live', { periodSeconds: 10, failureThreshold: 3 }),
    readinessProbe: probe('/ready', { periodSeconds: 5, failureThreshold: 2 }),
    resources: isExecutor ? EXECUTOR : RESOURCES,
    securityContext: CONFINED,
    volumeMounts: [
      { name: 'tmp', mountPath: '/tmp' },
      ...(isExecutor ? [{ name: 'tool-secrets', mountPath: '/secrets', readOnly: true }] : []),
    ],
  };
}

/** A service's processes: any number; the log decides between them. */
export const deployment = (service: string): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: service, labels: labels(service) },
  spec: {
    replicas: 1,
    // A new one is ready before an old one hands its work back.
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    selector: { matchLabels: { [LABEL]: service } },
    template: {
      metadata: { labels: labels(service) },
      spec: {
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: podSecurity(NODE),
        // Longer than RUNYARD_SHUTDOWN_SECONDS: work in hand is handed back, not lost.
        terminationGracePeriodSeconds: 30,
        containers: [container(service)],
        volumes: [
          { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } },
          ...(service === 'run-executor' ? [TOOL_SECRETS] : []),
        ],
      },
    },
  },
});

export const door = (): Manifest => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'gateway', labels: labels('gateway') },
  spec: { selector: { [LABEL]: 'gateway' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
});

/** Roles, schemas and streams of this version, before its services: replaced with each version, since a Job never changes. */
export const prepareJob = (): Manifest => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: `prepare-${VERSION.replaceAll('.', '-')}`, labels: labels('prepare') },
  spec: {
    backoffLimit: 20,
    template: {
      metadata: { labels: labels('prepare') },
      spec: {
        restartPolicy: 'OnFailure',
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: podSecurity(NODE),
        containers: [
          {
            name: 'prepare',
            image: `runyard/prepare:${VERSION}`,
            command: ['node', 'dist/deploy/docker/prepare.js'],
            env: [
              { name: 'NATS_URL', value: 'nats://nats:4222' },
              { name: 'NATS_USER', value: 'operator' },
              { name: 'RUNYARD_STREAM_REPLICAS', value: '1' },
              fromSecret('NATS_PASSWORD', 'runyard-owner'),
              fromSecret('DATABASE_OWNER_URL', 'runyard-owner'),
              ...SERVICE_NAMES.map((service) => fromSecret(databasePassword(service), 'runyard-owner')),
            ],
            resources: RESOURCES,
            securityContext: CONFINED,
            volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
          },
        ],
        volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }],
      },
    },
  },
});
