import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { describeWithProgram } from '@tocsin/testing/suites';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { temporaryFolder } from '../../verification/systems/running.ts';
import { type ManifestOptions, writeManifests } from '../write-manifests.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Manifest = any;
type Settings = Record<string, unknown>;

const CHART = path.join(import.meta.dirname, '../chart');
const read = (file: string) => readFileSync(path.join(CHART, file), 'utf8');
const TEMPLATES = readdirSync(path.join(CHART, 'templates'));
const DOMAIN = { domain: 'incidents.example.com' };
const CERTIFICATES = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

/** Those of `values.yaml`, with others as `helm --set` names them. */
function valuesWith(settings: Settings): Manifest {
  const values = parse(read('values.yaml'));
  for (const [name, value] of Object.entries(settings)) {
    const keys = name.split('.');
    const last = keys.pop() ?? '';
    keys.reduce((parent, key) => (parent[key] ??= {}), values)[last] = value;
  }
  return values;
}

const matchesSchema = new Ajv({ allowUnionTypes: true }).compile(JSON.parse(read('values.schema.json')));
const problemsOf = (settings: Settings) => {
  matchesSchema(valuesWith(settings));
  return (matchesSchema.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).join('; ');
};

test('the values need a domain, and nothing else', () => {
  expect(problemsOf({})).toContain('/domain must match pattern');
  expect(problemsOf(DOMAIN)).toBe('');
  // Of a chart on which another one depends.
  expect(problemsOf({ ...DOMAIN, 'global.registry': 'images.example.com' })).toBe('');
});

test.each<[string, Settings]>([
  [' must NOT have additional properties', { replicas: 3 }],
  ['/settings must NOT have additional properties', { 'settings.MISTYPED': '1' }],
  ['/apps must NOT have additional properties', { 'apps.incidents.minReplicas': 3 }],
  ["/secrets must have required property 'webhook'", { 'secrets.webhook': undefined }],
  ['/settings/RATE_LIMIT_PER_MINUTE must be string', { 'settings.RATE_LIMIT_PER_MINUTE': 1200 }],
  ['/domain must match pattern', { domain: 'Not a domain' }],
  ['/image must match pattern', { image: '' }],
  ['/authorities must match pattern', { authorities: 'ca.pem' }],
  ['/authorities must NOT be valid', { authorities: `${CERTIFICATES}-----BEGIN PRIVATE KEY-----\n` }],
  ['/ingress/type must be equal to one of', { 'ingress.type': 'nginx' }],
  ['/ingress/class must NOT have fewer than 1 characters', { 'ingress.type': 'gateway-api' }],
  ['/apps/gateway/minReplicas must be >= 1', { 'apps.gateway.minReplicas': 0 }],
  ['/apps/gateway/resources/limits/memory must be string', { 'apps.gateway.resources.limits.memory': 1 }],
])('the schema says: %s', (problem, settings) => {
  expect(problemsOf({ ...DOMAIN, ...settings })).toContain(problem);
});

test('the templates use all values, and only these', () => {
  const used = TEMPLATES.flatMap((file) => read(`templates/${file}`).match(/(?<=\.Values\.)[\w.]+/g) ?? []);
  const namesIn = (values: object, group = ''): string[] =>
    Object.entries(values).flatMap(([name, value]) =>
      typeof value === 'object' ? namesIn(value, `${group}${name}.`) : `${group}${name}`,
    );
  expect([...new Set(used)].toSorted()).toEqual(namesIn(valuesWith({})).toSorted());
});

describeWithProgram('go')('as Go renders its templates', () => {
  const folder = temporaryFolder();
  const renderer = () => path.join(folder.path, 'render-chart');
  beforeAll(() => {
    const env = { ...process.env, CGO_ENABLED: '0', GO111MODULE: 'off' };
    const build = ['build', '-o', renderer(), path.join(import.meta.dirname, 'render-chart.go')];
    const { status, stderr } = spawnSync('go', build, { env, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  function render(settings: Settings, namespace = 'tocsin'): Manifest[] {
    expect(problemsOf(settings)).toBe('');
    const files = TEMPLATES.map((file) => path.join(CHART, 'templates', file));
    const input = JSON.stringify({ Values: valuesWith(settings), Release: { Namespace: namespace } });
    const { stdout, stderr } = spawnSync(renderer(), files, { input, encoding: 'utf8' });
    expect(stderr).toBe('');
    return parseAllDocuments(stdout).flatMap((document) => {
      expect([document.errors, document.warnings]).toEqual([[], []]);
      return document.toJS() ?? [];
    });
  }

  /** What the command writes, without the namespace, which Helm creates, and the pod for administration. */
  async function command(options: Partial<ManifestOptions>): Promise<Manifest[]> {
    const out = path.join(folder.path, 'manifests');
    const defaults = { out, secrets: 'external', ingress: 'ingress', settings: {} } as const;
    await writeManifests({ ...DOMAIN, ...defaults, ...options }, {});
    const files = ['settings', 'migrate', 'apps', ...(options.ingress === 'none' ? [] : ['ingress'])];
    return files
      .flatMap((file) => parseAllDocuments(readFileSync(path.join(out, `${file}.yaml`), 'utf8')))
      .map((document) => document.toJS())
      .filter(({ kind }) => kind !== 'Namespace');
  }

  const isHook = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook'] !== undefined;
  const sorted = (manifests: Manifest[]) =>
    manifests.toSorted((one, other) => {
      const [first, second] = [one, other].map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      return first === second ? 0 : String(first) < String(second) ? -1 : 1;
    });
  const find = (manifests: Manifest[], kind: string, name: string) =>
    manifests.find((each) => each.kind === kind && each.metadata.name === name);

  const certificates = () => {
    const file = path.join(folder.path, 'ca.pem');
    writeFileSync(file, CERTIFICATES);
    return file;
  };
  const image = `images.example.com/tocsin@sha256:${'0'.repeat(64)}`;
  const settings = { TRUSTED_PROXIES: '10.0.0.0/8,fd00::/8', WEBHOOK_RESOURCE_URL: `https://{id}/#"a": 'b'\\ é` };

  test.each<[string, Settings, () => Partial<ManifestOptions>]>([
    ['no settings', {}, () => ({})],
    [
      'an image, authorities and settings',
      {
        ...{ image, authorities: CERTIFICATES, 'ingress.class': 'public' },
        ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [`settings.${name}`, value])),
      },
      () => ({ image, ca: certificates(), ingressClass: 'public', settings }),
    ],
    [
      'the Gateway API and authorities of another tool',
      {
        ...{ 'ingress.type': 'gateway-api', 'ingress.class': 'envoy' },
        'settings.NODE_EXTRA_CA_CERTS': '/etc/tocsin/authorities/bundle.pem',
      },
      () => ({
        ...{ ingress: 'gateway-api', ingressClass: 'envoy' },
        settings: { NODE_EXTRA_CA_CERTS: '/etc/tocsin/authorities/bundle.pem' },
      }),
    ],
    ['nothing in front', { 'ingress.type': 'none' }, () => ({ ingress: 'none' })],
  ])('it is what the command writes with %s', async (_, values, options) => {
    const rendered = render({ ...DOMAIN, ...values });
    const written = await command(options());
    const apart = ({ kind }: Manifest) => kind !== 'Job';
    expect(sorted(rendered.filter((each) => !isHook(each)))).toEqual(sorted(written.filter(apart)));

    // The hooks: the Job of the command, with ConfigMaps of its own, since those of the release come later.
    const copied = written.filter(({ kind }) => kind === 'ConfigMap' || kind === 'Job');
    const expected = copied.map((manifest) => {
      const isJob = manifest.kind === 'Job';
      const { metadata, ...others } = JSON.parse(
        JSON.stringify(manifest).replaceAll(/"name":"(tocsin|tocsin-authorities)"/g, '"name":"$1-migrate"'),
      );
      const annotations = {
        'helm.sh/hook': 'pre-install,pre-upgrade',
        'helm.sh/hook-weight': isJob ? '0' : '-1',
        'helm.sh/hook-delete-policy': isJob ? 'before-hook-creation' : 'before-hook-creation,hook-succeeded',
      };
      return { ...others, metadata: { ...metadata, annotations } };
    });
    expect(sorted(rendered.filter(isHook))).toEqual(sorted(expected));
  });

  test('pods, resources, Secrets and the namespace are values, too', () => {
    const manifests = render(
      {
        ...{ ...DOMAIN, 'apps.customField.minReplicas': 3, 'apps.customField.maxReplicas': 12 },
        ...{ 'apps.customField.resources.requests.cpu': 1.5, 'apps.customField.resources.limits.memory': '1Gi' },
        ...{ 'secrets.customField': 'of-our-own', 'secrets.migrate': 'of-the-owner' },
      },
      'incidents',
    );
    expect(new Set(manifests.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['incidents']));
    const { spec } = find(manifests, 'HorizontalPodAutoscaler', 'custom-field');
    expect(spec).toMatchObject({ minReplicas: 3, maxReplicas: 12 });
    expect(find(manifests, 'HorizontalPodAutoscaler', 'catalog').spec).toMatchObject({ minReplicas: 2 });
    const secretsOf = ({ envFrom }: Manifest) => envFrom.flatMap(({ secretRef }: Manifest) => secretRef?.name ?? []);
    const [container] = find(manifests, 'Deployment', 'custom-field').spec.template.spec.containers;
    expect(container.resources).toEqual({
      requests: { cpu: '1.5', memory: '192Mi' },
      limits: { cpu: '2', memory: '1Gi' },
    });
    expect(secretsOf(container)).toEqual(['of-our-own']);
    const [migration] = find(manifests, 'Job', 'migrate').spec.template.spec.containers;
    expect(secretsOf(migration)).toEqual(['tocsin-databases', 'of-the-owner']);
  });
});
