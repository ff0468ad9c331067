import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Environment } from '@tocsin/runtime';
import { describeWithProgram } from '@tocsin/testing/suites';
import { parseAllDocuments } from 'yaml';
import { APP_NAMES, APPS } from '../../installation/apps.ts';
import { ROOT } from '../../installation/environment.ts';
import { type ManifestOptions, writeManifests } from '../write-manifests.ts';
import { migrateConfig } from '../../migrate/config.ts';
import { readSettings } from '../../verification/systems/read-settings.ts';
import { temporaryFolder } from '../../verification/systems/running.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Manifest = any;

const DATABASE_URL = 'postgres://admin:of-our-own@db.example.com:5432/tocsin?sslmode=require';
const folder = temporaryFolder();
let count = 0;

/** Writes into a new folder, or again into one. */
async function write(
  options: Partial<ManifestOptions> = {},
  env: Environment = { DATABASE_URL },
  out = path.join(folder.path, String((count += 1))),
) {
  const defaults = {
    domain: 'incidents.example.com',
    out,
    secrets: 'generated',
    ingress: 'ingress',
    settings: {},
  } as const;
  const steps = await writeManifests({ ...defaults, ...options }, env);
  const files = readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(out, path.join(parentPath, name)));
  const texts = Object.fromEntries(files.map((file) => [file, readFileSync(path.join(out, file), 'utf8')]));
  const manifests: Manifest[] = files
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => parseAllDocuments(texts[file] ?? '').map((document) => document.toJS()));
  return { out, steps, texts, manifests, ofKind: (kind: string) => manifests.filter((each) => each.kind === kind) };
}

const has = (labels: Record<string, string>, { matchLabels = {}, matchExpressions = [] }: Manifest): boolean =>
  Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
  matchExpressions.every(({ key, values }: Manifest) => values.includes(labels[key]));

/** What a manifest names and no other one has. */
function danglingReferences(manifests: Manifest[]): string[] {
  const problems: string[] = [];
  const expects = (isThere: boolean, ...problem: unknown[]) => {
    if (!isThere) problems.push(problem.join(' '));
  };
  const find = (kind: string, name: string) =>
    manifests.find((each) => each.kind === kind && each.metadata.name === name);
  const templates = manifests.flatMap(({ kind, metadata, spec }) =>
    kind === 'Pod' ? [{ metadata, spec }] : spec?.template === undefined ? [] : [spec.template],
  );
  const selected = (selector: Manifest) => templates.filter(({ metadata }) => has(metadata.labels, selector));
  for (const { spec } of templates) {
    for (const container of spec.containers) {
      const ports = (container.ports ?? []).map(({ name }: Manifest) => name);
      for (const { configMapRef, secretRef } of container.envFrom ?? []) {
        expects(
          find('ConfigMap', configMapRef?.name) ?? find('Secret', secretRef?.name),
          container.name,
          'reads',
          secretRef?.name,
        );
      }
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
        const { httpGet, tcpSocket } = container[probe] ?? {};
        const port = (httpGet ?? tcpSocket)?.port;
        expects(port === undefined || ports.includes(port), container.name, probe, port);
      }
      for (const { name } of container.volumeMounts ?? []) {
        const claims = manifests.flatMap((each) => each.spec?.volumeClaimTemplates ?? []);
        const volume = (spec.volumes ?? []).find((each: Manifest) => each.name === name);
        expects(
          volume !== undefined || claims.some((each) => each.metadata.name === name),
          container.name,
          'mounts',
          name,
        );
        const secret = volume?.secret?.secretName;
        expects(
          secret === undefined || find('Secret', secret) !== undefined,
          container.name,
          'mounts the secret',
          secret,
        );
      }
    }
  }
  for (const { kind, metadata, spec } of manifests) {
    const what = `${kind} ${metadata.name}`;
    if (kind === 'Service') {
      for (const { targetPort } of spec.ports) {
        const targets = selected({ matchLabels: spec.selector }).flatMap((each) => each.spec.containers[0].ports ?? []);
        expects(
          targets.some(({ name }: Manifest) => name === targetPort),
          what,
          targetPort,
        );
      }
    }
    if (kind === 'Deployment' || kind === 'StatefulSet')
      expects(has(spec.template.metadata.labels, spec.selector), what);
    if (kind === 'PodDisruptionBudget') expects(selected(spec.selector).length > 0, what);
    if (kind === 'HorizontalPodAutoscaler') expects(find('Deployment', spec.scaleTargetRef.name) !== undefined, what);
    if (kind === 'NetworkPolicy') {
      expects(selected(spec.podSelector).length > 0, what);
      const peers = [...(spec.ingress ?? []), ...(spec.egress ?? [])].flatMap(({ from = [], to = [] }) => [
        ...from,
        ...to,
      ]);
      for (const { podSelector, namespaceSelector } of peers) {
        if (podSelector !== undefined && namespaceSelector === undefined) {
          expects(selected(podSelector).length > 0, what, JSON.stringify(podSelector));
        }
      }
    }
    if (kind === 'Ingress') {
      for (const { http } of spec.rules) {
        const { name, port } = http.paths[0].backend.service;
        expects(
          find('Service', name)?.spec.ports.some((each: Manifest) => each.name === port.name),
          what,
          name,
        );
      }
    }
    if (kind !== 'Namespace') expects(metadata.namespace === 'tocsin', what, 'is in', metadata.namespace);
  }
  return problems;
}

test('each app has every setting that it reads, and each name leads to something', async () => {
  const { manifests, ofKind, texts, steps } = await write({ settings: { TRUSTED_PROXIES: '10.0.0.0/8' } });
  expect(danglingReferences(manifests)).toEqual([]);
  const secret = (name: string) => ofKind('Secret').find((each) => each.metadata.name === name).stringData;
  const [{ data }] = ofKind('ConfigMap');
  expect(data).toMatchObject({ BASE_DOMAIN: 'incidents.example.com', TRUSTED_PROXIES: '10.0.0.0/8' });
  for (const app of APP_NAMES) {
    const env = { ...data, ...secret(`tocsin-${app}`) };
    expect(() => readSettings(APPS[app].readConfig, env)).not.toThrow();
    const url = new URL(env[APPS[app].databaseVariable]);
    expect([url.username, url.host, url.search]).toEqual([
      `tocsin_${APPS[app].schema.name}`,
      'db.example.com:5432',
      '?sslmode=require',
    ]);
  }
  const migration = { ...data, ...secret('tocsin-databases'), ...secret('tocsin-migrate') };
  expect(() => readSettings(migrateConfig, migration)).not.toThrow();
  const kinds = ['Ingress', 'HorizontalPodAutoscaler', 'PodDisruptionBudget', 'NetworkPolicy', 'Job', 'StatefulSet'];
  expect(kinds.filter((kind) => ofKind(kind).length === 0)).toEqual([]);
  expect(JSON.stringify(manifests)).not.toContain('tocsin.example.com');
  const named = steps.flatMap((step) => step.match(/[\w-]+\.(?:yaml|json)/g) ?? []);
  expect(named.filter((file) => texts[file] === undefined)).toEqual([]);
});

test('the same again changes no file, also without the URL of the database', async () => {
  const { out, texts } = await write();
  expect((await write({}, {}, out)).texts).toEqual(texts);
  const next = await write({ image: 'images.example.com/tocsin:0.2.0' }, {}, out);
  expect(next.texts['secrets.yaml']).toBe(texts['secrets.yaml']);
  expect(next.texts['apps.yaml']?.match(/image: .*/g)).toEqual(
    APP_NAMES.map(() => 'image: images.example.com/tocsin:0.2.0'),
  );
});

test('servers with an address are not made, and RabbitMQ gets its users by a file', async () => {
  const servers = {
    DATABASE_URL,
    AMQP_URL: 'amqps://root:of-our-own@mq.example.com',
    REDIS_URL: 'rediss://redis.example.com',
  };
  const { texts, ofKind, steps } = await write({ ingress: 'none' }, servers);
  expect(Object.keys(texts)).not.toContain('servers.yaml');
  expect(Object.keys(texts)).not.toContain('ingress.yaml');
  const { users } = JSON.parse(texts['rabbitmq-definitions.json'] ?? '');
  expect(users.map(({ name }: Manifest) => name)).toEqual(['root', ...APP_NAMES.map((app) => `tocsin-${app}`)]);
  const { stringData } = ofKind('Secret').find((each) => each.metadata.name === 'tocsin-incident');
  expect(stringData.AMQP_URL).toMatch(/^amqps:\/\/tocsin-incident:[\w-]{32}@mq\.example\.com$/);
  expect(stringData.REDIS_URL).toBe('rediss://redis.example.com');
  expect(steps.join('\n')).toContain('rabbitmqctl import_definitions');
});

test('secrets of another store stay there', async () => {
  const { texts, ofKind, steps, manifests } = await write({ secrets: 'external' }, {});
  expect([ofKind('Secret'), texts['servers.yaml']]).toEqual([[], undefined]);
  const missing = danglingReferences(manifests).map((problem) => problem.replace(/^.* reads /, ''));
  for (const name of missing) expect(steps.join('\n')).toContain(name);
  expect(new Set(missing).size).toBe(APP_NAMES.length + 3);
});

test('authorities of your own are mounted into all pods, and known to Node.js', async () => {
  const file = path.join(folder.path, 'ca.pem');
  const certificates = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
  writeFileSync(file, certificates);
  const { ofKind, manifests } = await write({ ca: file });
  const maps = new Map(ofKind('ConfigMap').map(({ metadata, data }) => [metadata.name, data]));
  expect(maps.get('tocsin-authorities')).toEqual({ 'ca.crt': certificates });
  const known = maps.get('tocsin').NODE_EXTRA_CA_CERTS;
  const specs = manifests.flatMap(({ kind, metadata, spec }) =>
    metadata.labels?.['app.kubernetes.io/part-of'] !== 'tocsin' && kind !== 'Job'
      ? []
      : kind === 'Pod'
        ? [spec]
        : (spec.template?.spec ?? []),
  );
  expect(specs.length).toBeGreaterThanOrEqual(APP_NAMES.length + 2);
  for (const { containers, volumes } of specs) {
    expect(volumes).toContainEqual({ name: 'authorities', configMap: { name: 'tocsin-authorities', optional: true } });
    const { mountPath } = containers[0].volumeMounts.find(({ name }: Manifest) => name === 'authorities');
    expect(known).toBe(`${mountPath}/ca.crt`);
  }
  expect((await write()).ofKind('ConfigMap')).toMatchObject([{ data: { NODE_EXTRA_CA_CERTS: '' } }]);
});

describe('says what is wrong with', () => {
  test.each<[string, Partial<ManifestOptions>, Environment]>([
    ['--domain: Not a domain', { domain: 'Not a domain' }, { DATABASE_URL }],
    ['--set: infra/kubernetes/settings has no MISTYPED', { settings: { MISTYPED: '1' } }, { DATABASE_URL }],
    ['--ingress-class: the Gateway API needs', { ingress: 'gateway-api' }, { DATABASE_URL }],
    ['--ca: must be a file with certificates', { ca: '/none' }, { DATABASE_URL }],
    ['DATABASE_URL: must name the PostgreSQL', {}, {}],
    ['DATABASE_URL: must be a URL with a user', {}, { DATABASE_URL: 'db.example.com' }],
    ['DATABASE_URL: must name a database', {}, { DATABASE_URL: 'postgres://admin:x@db.example.com' }],
    ['AMQP_URL: must name the virtual host /', {}, { DATABASE_URL, AMQP_URL: 'amqp://root:x@mq.example.com/other' }],
  ])('%s', async (message, options, env) => {
    await expect(write(options, env)).rejects.toThrow(message);
  });
});

describeWithProgram('kubectl')('kubectl', () => {
  test('kustomizes the same', async () => {
    const { manifests } = await write({ domain: 'tocsin.example.com', secrets: 'external', ingress: 'none' });
    const key = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`;
    for (const name of ['.', 'migrate', 'admin']) {
      const { stdout } = spawnSync('kubectl', ['kustomize', path.join(ROOT, 'infra/kubernetes', name)]);
      for (const document of parseAllDocuments(stdout.toString())) {
        const expected: Manifest = document.toJS();
        expect(manifests.find((each) => key(each) === key(expected))).toEqual(expected);
      }
    }
  });
});
