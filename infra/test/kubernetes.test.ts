import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type Environment, parseSecretKeys } from '@tocsin/runtime';
import { parseAllDocuments } from 'yaml';
import { APP_NAMES, APPS, type AppName } from '../apps.ts';
import { ROOT } from '../environment.ts';
import { migrateConfig } from '../migrate/config.ts';
import { addressesOfOwnMachine, isNeeded, readSettings } from './read-settings.ts';

const FOLDER = path.join(ROOT, 'infra/kubernetes');

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Manifest = any;

const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'));
const manifests = new Map(files.map((file) => [file, parse(file)]));
const all: Manifest[] = [...manifests.values()].flat();

function parse(file: string): Manifest[] {
  return parseAllDocuments(readFileSync(path.join(FOLDER, file), 'utf8'), { strict: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join('; ')}`);
    return document.toJS();
  });
}

const find = (kind: string, name: string): Manifest => {
  const found = all.filter((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (found.length !== 1) throw new Error(`${found.length} of ${kind} ${name}`);
  return found[0];
};
const deployment = (app: string) => find('Deployment', app).spec.template.spec;
const container = (app: string) => deployment(app).containers[0];
/** The values of a ConfigMap or Secret, with passwords instead of placeholders. */
const valuesOf = (manifest: Manifest): Environment =>
  JSON.parse(JSON.stringify({ ...manifest.data, ...manifest.stringData }).replaceAll('REPLACE', 'of-our-own'));

/** The environment of a container, as the cluster composes it. */
function environmentOf({ env = [], envFrom = [] }: Manifest): Environment {
  const shared = envFrom.map(({ configMapRef, secretRef }: Manifest) =>
    valuesOf(configMapRef === undefined ? find('Secret', secretRef.name) : find('ConfigMap', configMapRef.name)),
  );
  const own = env.map(({ name, value, valueFrom }: Manifest) => [
    name,
    value ?? valuesOf(find('Secret', valueFrom.secretKeyRef.name))[valueFrom.secretKeyRef.key],
  ]);
  return { ...Object.assign({}, ...shared), ...Object.fromEntries(own) };
}

/** Whether the policies of `app` allow traffic with `other` on that port, in one direction. */
function allows(direction: 'ingress' | 'egress', app: string, other: string, port: number): boolean {
  const policies = all.filter(
    ({ kind, spec }) => kind === 'NetworkPolicy' && spec.podSelector.matchLabels?.['app.kubernetes.io/name'] === app,
  );
  return policies
    .flatMap(({ spec }) => spec[direction] ?? [])
    .some(
      (rule: Manifest) =>
        rule.ports.some((allowed: Manifest) => allowed.port === port) &&
        (rule[direction === 'ingress' ? 'from' : 'to'] ?? []).some(
          (peer: Manifest) => peer.podSelector?.matchLabels?.['app.kubernetes.io/name'] === other,
        ),
    );
}

test('every kustomization names existing files, and every manifest is in one or an example', () => {
  const named = files
    .filter((file) => path.basename(file) === 'kustomization.yaml')
    .flatMap((file) => manifests.get(file)![0].resources.map((one: string) => path.join(path.dirname(file), one)));
  const there = new Set(files.flatMap((file) => [file, path.dirname(file)]));
  expect(named.filter((one) => !there.has(one))).toEqual([]);
  const unnamed = files.filter((file) => !file.endsWith('kustomization.yaml') && !named.includes(file));
  expect(unnamed.sort()).toEqual(['examples/ingress.yaml', 'examples/secrets.yaml']);
});

describe.each(APP_NAMES)('%s', (app) => {
  test('has probes, limits, no privileges, and a roll-out without downtime', () => {
    expect(container(app)).toMatchObject({
      image: `tocsin/${app}`,
      startupProbe: { httpGet: { path: '/healthz', port: 'http' } },
      livenessProbe: { httpGet: { path: '/healthz', port: 'http' } },
      readinessProbe: { httpGet: { path: '/readyz', port: 'http' } },
      resources: {
        requests: { cpu: expect.any(String) },
        limits: { cpu: expect.any(String), memory: expect.any(String) },
      },
      securityContext: {
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      },
    });
    expect(deployment(app)).toMatchObject({
      terminationGracePeriodSeconds: 30,
      securityContext: { runAsNonRoot: true, runAsUser: expect.any(Number) },
    });
    expect(find('Deployment', app).spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
    // It serves from the signal on; a hook would only use up its time.
    expect(container(app).lifecycle).toBeUndefined();
    expect(Number(environmentOf(container(app))['DRAIN_SECONDS'])).toBeGreaterThanOrEqual(4);
  });

  test('has at least two pods and a disruption budget', () => {
    const selector = { 'app.kubernetes.io/name': app };
    const scaler = find('HorizontalPodAutoscaler', app).spec;
    expect(scaler.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: app });
    expect(scaler.minReplicas).toBeGreaterThanOrEqual(2);
    const budget = find('PodDisruptionBudget', app).spec;
    expect(budget).toMatchObject({ maxUnavailable: 1, selector: { matchLabels: selector } });
    expect(find('Deployment', app).spec.template.metadata.labels).toMatchObject(selector);
    expect(find('Service', app).spec.selector).toEqual(selector);
    const headless = find('Service', `${app}-headless`).spec;
    expect(headless).toMatchObject({ clusterIP: 'None', selector });
    const { port } = new URL(environmentOf(container(app))[APPS[app].addressVariable] ?? '');
    const { containerPort } = container(app).ports.find(({ name }: Manifest) => name === headless.ports[0].targetPort);
    // A headless service leads to the ports of the pods themselves.
    expect([Number(port), headless.ports[0].port]).toEqual([containerPort, containerPort]);
  });

  test('has every setting that it reads, and no address points to its own pod', async () => {
    const env = environmentOf(container(app));
    const { config, names } = readSettings(APPS[app].readConfig, env);
    expect([...names].filter((name) => env[name] === undefined && isNeeded(name))).toEqual([]);
    expect(addressesOfOwnMachine(config)).toEqual([]);
    expect(env['NODE_ENV']).toBe('production');
  });

  test('has no database URL of another app', () => {
    const names = Object.keys(environmentOf(container(app))).filter((name) => name.endsWith('DATABASE_URL'));
    expect(names).toEqual([APPS[app].databaseVariable]);
  });

  test('has its own keys, and does not start with the placeholders of the examples', async () => {
    const { name } = container(app).envFrom.find(({ secretRef }: Manifest) => secretRef !== undefined).secretRef;
    expect(name).toBe(`tocsin-${app}`);
    const { stringData } = find('Secret', name);
    expect(Object.keys(stringData)).toContain('TOCSIN_SECRET_KEYS');
    const read = () =>
      readSettings(APPS[app].readConfig, {
        ...environmentOf(container(app)),
        ...stringData,
      });
    expect(read).toThrow(`${APPS[app].databaseVariable}: is a default that everybody can read`);
    expect(() => parseSecretKeys(stringData.TOCSIN_SECRET_KEYS)).toThrow('TOCSIN_SECRET_KEYS');
  });

  test('can reach exactly the apps whose addresses it reads', async () => {
    const env = environmentOf(container(app));
    const { names } = readSettings(APPS[app].readConfig, env);
    for (const other of APP_NAMES.filter((name) => name !== app)) {
      const address = APPS[other].addressVariable;
      const { hostname, port } = new URL(env[address] ?? '');
      expect(hostname).toBe(`${other}-headless`);
      const reads = names.has(address);
      const describeAccess = (may: boolean) => `${app} ${may ? 'reaches' : 'does not reach'} ${other}`;
      expect(describeAccess(allows('egress', app, other, Number(port)))).toBe(describeAccess(reads));
      expect(describeAccess(allows('ingress', other, app, Number(port)))).toBe(describeAccess(reads));
    }
  });
});

test('only the gateway accepts traffic from anywhere', () => {
  const open = all.filter(
    ({ kind, spec }) => kind === 'NetworkPolicy' && spec.ingress?.some((rule: Manifest) => !rule.from),
  );
  expect(open.map(({ metadata }) => metadata.name)).toEqual(['gateway']);
  expect(all.filter(({ kind, spec }) => kind === 'Service' && spec.type !== undefined)).toEqual([]);
});

test("the gateway's internal server can be reached from other containers", async () => {
  const { config } = readSettings(APPS.gateway.readConfig, environmentOf(container('gateway')));
  const { port } = new URL(environmentOf(container('incident'))['GATEWAY_INTERNAL_URL'] ?? '');
  expect(config).toMatchObject({ http: { host: '0.0.0.0' }, internal: { host: '0.0.0.0', port: Number(port) } });
});

test('migrations reach every schema', async () => {
  const { containers } = find('Job', 'migrate').spec.template.spec;
  const env = environmentOf(containers[0]);
  const { config, names } = readSettings(migrateConfig, env);
  expect([...names].filter((name) => env[name] === undefined && isNeeded(name))).toEqual([]);
  const { targets } = config as { targets: { schema: string; url: string }[] };
  const owned = APP_NAMES.map((app: AppName) => environmentOf(container(app)));
  for (const { url } of targets) expect(owned.some((env) => Object.values(env).includes(url))).toBe(true);
  expect(targets).toHaveLength(APP_NAMES.length);
});
