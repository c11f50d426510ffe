import { LABEL, SERVICE_NAMES, labels } from './services';
import type { Manifest } from './services';

// Who may talk to whom. Everything that is not named is refused.

const pods = (names: readonly string[]) => ({
  podSelector: { matchExpressions: [{ key: LABEL, operator: 'In', values: [...names] }] },
});
const tcp = (port: number) => ({ protocol: 'TCP', port });
const CLIENTS = [...SERVICE_NAMES, 'prepare'];

const policy = (name: string, spec: object): Manifest => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, labels: labels(name) },
  spec,
});
const of = (name: string) => ({ podSelector: { matchLabels: { [LABEL]: name } } });

/** Private addresses: tools of runs reach the internet and nothing of the cluster beside what is named. */
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '100.64.0.0/10'];

/** What talks to what inside. */
const within = (): Manifest[] => [
  policy('refuse-everything', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] }),
  policy('names', {
    podSelector: {},
    policyTypes: ['Egress'],
    egress: [{ ports: [{ protocol: 'UDP', port: 53 }, tcp(53)] }],
  }),
  policy('bus', {
    ...of('nats'),
    policyTypes: ['Ingress', 'Egress'],
    ingress: [
      { from: [pods(CLIENTS)], ports: [tcp(4222)] },
      { from: [pods(['nats'])], ports: [tcp(6222)] },
    ],
    egress: [{ to: [pods(['nats'])], ports: [tcp(6222)] }],
  }),
  policy('services', {
    ...pods(CLIENTS),
    policyTypes: ['Egress'],
    egress: [
      { to: [pods(['nats'])], ports: [tcp(4222)] },
      // Postgres may lie outside of the cluster; narrow it down in your overlay.
      { ports: [tcp(5432)] },
    ],
  }),
];

/** Who comes in, and who goes out. */
const beyond = (): Manifest[] => [
  policy('api', { ...of('gateway'), policyTypes: ['Ingress'], ingress: [{ ports: [tcp(8080)] }] }),
  policy('operations', {
    ...pods(SERVICE_NAMES),
    policyTypes: ['Ingress'],
    // Probes come from the node; Prometheus from the namespace that carries this label.
    ingress: [
      {
        from: [{ namespaceSelector: { matchLabels: { 'runyard.dev/observability': 'true' } } }],
        ports: [tcp(9090)],
      },
    ],
  }),
  policy('key-set', {
    ...of('gateway'),
    policyTypes: ['Egress'],
    egress: [{ to: [{ ipBlock: { cidr: '0.0.0.0/0', except: PRIVATE } }], ports: [tcp(443)] }],
  }),
  policy('models-and-tools', {
    ...of('run-executor'),
    policyTypes: ['Egress'],
    egress: [{ to: [{ ipBlock: { cidr: '0.0.0.0/0', except: PRIVATE } }] }],
  }),
];

export const networkPolicies = (): Manifest[] => [...within(), ...beyond()];
