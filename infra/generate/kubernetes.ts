import { APP_NAMES, type AppName, APPS, SERVICE_NAMES } from '../installation/apps.ts';
import { brokerDefinitions, brokerUser } from '../installation/broker-definitions.ts';
import { calledBy, internalPort, startCommand } from './app-settings.ts';
import { fileWithBlocks } from './blocks.ts';
import { jsonText } from './formatted.ts';

/** `TOCSIN_NAMESPACE`, unless the settings have another. */
const NAMESPACE = 'tocsin';
const FOLDER = 'infra/kubernetes';
export const HEAD =
  '# Generated from infra/installation/apps.ts by npm run generate: change it there, or with a patch of a kustomization.';

const podsOf = (app: AppName) => `- podSelector: { matchLabels: { app.kubernetes.io/name: ${app} } }`;
/** The apps that call this one. */
const callersTo = (app: AppName) => APP_NAMES.filter((other) => calledBy(other).includes(app));

/** The process that encodes pictures has up to 512 MiB besides (ADR 126). */
const WITH_PICTURES = '1Gi';

/** A rule of a network policy for the internal ports of apps. */
const rule = (direction: 'from' | 'to', apps: readonly AppName[], port: number): string[] =>
  apps.length === 0
    ? []
    : [
        `    - ${direction}:`,
        ...apps.map((app) => `        ${podsOf(app)}`),
        '      ports:',
        `        - { port: ${port} }`,
      ];

function networkPolicy(app: AppName): string {
  const called = calledBy(app);
  const [services, gateway] = [
    called.filter((other) => other !== 'gateway'),
    called.filter((other) => other === 'gateway'),
  ];
  const out = [...rule('to', services, 8080), ...rule('to', gateway, 8081)];
  return [
    '---',
    'apiVersion: networking.k8s.io/v1',
    'kind: NetworkPolicy',
    'metadata:',
    `  name: ${app}`,
    'spec:',
    `  podSelector: { matchLabels: { app.kubernetes.io/name: ${app} } }`,
    `  policyTypes: [Ingress${out.length > 0 ? ', Egress' : ''}]`,
    '  ingress:',
    ...(app === 'gateway'
      ? ['    # From anywhere: this is the only public server.', '    - ports:', '        - { port: 8080 }']
      : []),
    ...rule('from', callersTo(app), internalPort(app)),
    ...(out.length > 0 ? ['  egress:', ...out] : []),
    '',
  ].join('\n');
}

const internalEnv = (isPublic: boolean) =>
  isPublic
    ? "\n            - { name: INTERNAL_HOST, value: 0.0.0.0 }\n            - { name: INTERNAL_PORT, value: '8081' }"
    : '';

const deployment = (app: AppName): string => `# ${APPS[app].does}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${app}
  labels: &labels
    app.kubernetes.io/name: ${app}
    app.kubernetes.io/part-of: tocsin
spec:
  # Without replicas: the autoscaler below sets the number, and a roll-out must not reset it.
  selector:
    matchLabels: { app.kubernetes.io/name: ${app} }
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  template:
    metadata:
      labels: *labels
    spec:
      automountServiceAccountToken: false
      # Up to 25 for the app: DRAIN_SECONDS to be taken out of all load balancers, then to finish running requests. It
      # serves from the signal on, so there is no preStop hook.
      terminationGracePeriodSeconds: 30
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
        runAsGroup: 1000
        seccompProfile: { type: RuntimeDefault }
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: { app.kubernetes.io/name: ${app} }
      containers:
        - name: ${app}
          image: localhost/tocsin
          command: ${startCommand(app)}
          ports:
            - { name: http, containerPort: 8080 }${app === 'gateway' ? '\n            - { name: internal, containerPort: 8081 }' : ''}
          env:
            - { name: HOST, value: 0.0.0.0 }
            - { name: PORT, value: '8080' }${internalEnv(app === 'gateway')}
          envFrom:
            - configMapRef: { name: tocsin }
            # Only its own keys and its own database.
            - secretRef: { name: tocsin-${app} }
          startupProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 1
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: http }
            periodSeconds: 5
            timeoutSeconds: 3
            failureThreshold: 2
          resources:
            requests: { cpu: 250m, memory: 192Mi }
            limits: { cpu: '2', memory: ${app === 'incident' ? WITH_PICTURES : '512Mi'} }
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: { drop: [ALL] }
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            - { name: authorities, mountPath: /etc/tocsin/authorities, readOnly: true }
      volumes:
        - name: authorities
          configMap: { name: tocsin-authorities, optional: true }
        - name: tmp
          emptyDir: { sizeLimit: 64Mi }
`;

/** One name for the apps that any pod may answer, and one with the addresses of all pods. */
function services(app: AppName): string {
  const name = app === 'gateway' ? 'internal' : 'http';
  const internal = `- { name: ${name}, port: ${internalPort(app)}, targetPort: ${name} }`;
  return `---
apiVersion: v1
kind: Service
metadata:
  name: ${app}
  labels: { app.kubernetes.io/name: ${app}, app.kubernetes.io/part-of: tocsin }
spec:
  selector: { app.kubernetes.io/name: ${app} }
  ports:
    - { name: http, port: 8080, targetPort: http }${app === 'gateway' ? `\n    ${internal}` : ''}
---
# The addresses of all ready pods, among which the other apps spread their requests.
apiVersion: v1
kind: Service
metadata:
  name: ${app}-headless
  labels: { app.kubernetes.io/name: ${app}, app.kubernetes.io/part-of: tocsin }
spec:
  clusterIP: None
  selector: { app.kubernetes.io/name: ${app} }
  ports:
    ${internal}
`;
}

const scaling = (app: AppName): string => `---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: ${app}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${app} }
  minReplicas: 2
  maxReplicas: ${APPS[app].maxPods}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: 70 }
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: ${app}
spec:
  maxUnavailable: 1
  # A pod that is not ready may always be evicted.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: { app.kubernetes.io/name: ${app} }
`;

const manifest = (app: AppName): string =>
  `${HEAD}\n${deployment(app)}${services(app)}${scaling(app)}${networkPolicy(app)}`;

/** Everything that a cluster has for one app. */
const manifestFiles = APP_NAMES.map((app) => ({
  file: `${FOLDER}/${app}.yaml`,
  generate: async () => manifest(app),
}));

const databaseUrl = (app: AppName) =>
  `${APPS[app].databaseVariable}: postgres://tocsin_${APPS[app].schema.name}:REPLACE@postgres.postgres.svc:5432/tocsin`;

const secret = (app: AppName) =>
  [
    'apiVersion: v1',
    'kind: Secret',
    'metadata:',
    `  name: tocsin-${app}`,
    '  namespace: tocsin',
    'stringData:',
    `  # secret-keys derive ${app}`,
    '  TOCSIN_SECRET_KEYS: REPLACE',
    `  AMQP_URL: amqp://${brokerUser(NAMESPACE, app)}:REPLACE@rabbitmq.rabbitmq.svc:5672`,
    ...(APPS[app].usesRedis ? ['  REDIS_URL: redis://:REPLACE@redis.redis.svc:6379'] : []),
    `  ${databaseUrl(app)}`,
    '---',
  ].join('\n');

const reachingOut = APP_NAMES.filter((app) => APPS[app].reaches !== undefined);

export const kubernetesFiles = [
  ...manifestFiles,
  {
    file: `${FOLDER}/examples/rabbitmq-definitions.json`,
    generate: async () => jsonText(brokerDefinitions(NAMESPACE)),
  },
  fileWithBlocks(`${FOLDER}/kustomization.yaml`, {
    'the apps': () => APP_NAMES.map((app) => `- ${app}.yaml`).join('\n'),
  }),
  fileWithBlocks(`${FOLDER}/settings/settings.yaml`, {
    'the addresses of the apps': () =>
      APP_NAMES.map((app) => `${APPS[app].addressVariable}: http://${app}-headless:${internalPort(app)}`).join('\n'),
  }),
  fileWithBlocks(`${FOLDER}/examples/secrets.yaml`, {
    'the secrets of the apps': () => APP_NAMES.map(secret).join('\n'),
    'the databases of all apps': () => APP_NAMES.map(databaseUrl).join('\n'),
  }),
  fileWithBlocks(`${FOLDER}/network-policies.yaml`, {
    'the apps that may reach the internet': () =>
      `- { key: app.kubernetes.io/name, operator: In, values: [${reachingOut.join(', ')}] }`,
  }),
  fileWithBlocks('infra/observability/kubernetes/pod-monitors.yaml', {
    'the services': () => `- { key: app.kubernetes.io/name, operator: In, values: [${SERVICE_NAMES.join(', ')}] }`,
  }),
  fileWithBlocks('infra/observability/prometheus.yaml', {
    'the services': () => `- { names: [${SERVICE_NAMES.join(', ')}], type: A, port: 8080, refresh_interval: 10s }`,
  }),
];
