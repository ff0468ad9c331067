import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Environment } from '@tocsin/runtime';
import { parseAllDocuments } from 'yaml';
import { APP_NAMES, APPS, type AppName } from '../apps.ts';
import { ROOT } from '../environment.ts';
import { addressesOfOwnMachine, databaseVariable, NOT_NEEDED, readSettings } from './read-settings.ts';

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
const valuesOf = (manifest: Manifest): Environment => ({ ...manifest.data, ...manifest.stringData });

/** The environment of a container, put together as the cluster does. */
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

/** Whether the policies on `app`, in one direction, let it talk to `other` on that port. */
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

test('every kustomization names files that are there, and every manifest is in one or an example', () => {
  const named = files
    .filter((file) => path.basename(file) === 'kustomization.yaml')
    .flatMap((file) => manifests.get(file)![0].resources.map((one: string) => path.join(path.dirname(file), one)));
  const there = new Set(files.flatMap((file) => [file, path.dirname(file)]));
  expect(named.filter((one) => !there.has(one))).toEqual([]);
  const unnamed = files.filter((file) => !file.endsWith('kustomization.yaml') && !named.includes(file));
  expect(unnamed.sort()).toEqual(['examples/ingress.yaml', 'examples/secrets.yaml']);
});

describe.each(APP_NAMES)('%s', (app) => {
  test('is watched, limited, unprivileged and rolled out without a gap', () => {
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
      lifecycle: { preStop: expect.anything() },
    });
    expect(deployment(app)).toMatchObject({
      terminationGracePeriodSeconds: 30,
      securityContext: { runAsNonRoot: true, runAsUser: expect.any(Number) },
    });
    expect(find('Deployment', app).spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
  });

  test('has two pods or more, which are not disturbed all at once', () => {
    const selector = { 'app.kubernetes.io/name': app };
    const scaler = find('HorizontalPodAutoscaler', app).spec;
    expect(scaler.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: app });
    expect(scaler.minReplicas).toBeGreaterThanOrEqual(2);
    const budget = find('PodDisruptionBudget', app).spec;
    expect(budget).toMatchObject({ maxUnavailable: 1, selector: { matchLabels: selector } });
    expect(find('Deployment', app).spec.template.metadata.labels).toMatchObject(selector);
    expect(find('Service', app).spec.selector).toEqual(selector);
  });

  test('is given every setting that it reads, and nothing of it leads back to its own pod', async () => {
    const env = environmentOf(container(app));
    const { config, names } = await readSettings(`${APPS[app].folder}/src/config.ts`, env);
    expect([...names].filter((name) => env[name] === undefined && !NOT_NEEDED.has(name))).toEqual([]);
    expect(addressesOfOwnMachine(config)).toEqual([]);
    expect(env['NODE_ENV']).toBe('production');
  });

  test('is given the database of no other app', () => {
    const given = Object.keys(environmentOf(container(app))).filter((name) => name.endsWith('DATABASE_URL'));
    expect(given).toEqual([databaseVariable(app)]);
  });

  test('may talk to the apps whose addresses it reads, and to no other', async () => {
    const env = environmentOf(container(app));
    const { names } = await readSettings(`${APPS[app].folder}/src/config.ts`, env);
    for (const other of APP_NAMES.filter((name) => name !== app)) {
      const address = APPS[other].address;
      const { port } = new URL(env[address] ?? '');
      const reads = names.has(address);
      const shown = (may: boolean) => `${app} ${may ? 'reaches' : 'does not reach'} ${other}`;
      expect(shown(allows('egress', app, other, Number(port)))).toBe(shown(reads));
      expect(shown(allows('ingress', other, app, Number(port)))).toBe(shown(reads));
    }
  });
});

test('only the gateway lets anybody in', () => {
  const open = all.filter(
    ({ kind, spec }) => kind === 'NetworkPolicy' && spec.ingress?.some((rule: Manifest) => !rule.from),
  );
  expect(open.map(({ metadata }) => metadata.name)).toEqual(['gateway']);
  expect(all.filter(({ kind, spec }) => kind === 'Service' && spec.type !== undefined)).toEqual([]);
});

test('migrations reach every schema, as a role that may make them', async () => {
  const { containers } = find('Job', 'migrate').spec.template.spec;
  const env = environmentOf(containers[0]);
  const { config, names } = await readSettings('infra/migrate/config.ts', env);
  expect([...names].filter((name) => env[name] === undefined)).toEqual([]);
  const { targets } = config as { targets: { schema: string; url: string }[] };
  const owned = APP_NAMES.map((app: AppName) => environmentOf(container(app)));
  for (const { url } of targets) expect(owned.some((given) => Object.values(given).includes(url))).toBe(true);
  expect(targets).toHaveLength(APP_NAMES.length);
});
