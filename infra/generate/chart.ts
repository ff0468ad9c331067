import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Document, type Scalar, stringify, type YAMLMap, type YAMLSeq } from 'yaml';
import { ROOT } from '../installation/environment.ts';
import {
  AUTHORITIES_FILE,
  authoritiesOf,
  DEFAULT_CLASS,
  DOMAIN,
  INGRESSES,
  ingressManifests,
  kustomized,
  text,
} from '../kubernetes/write-manifests.ts';
import { formatted, jsonText } from './formatted.ts';
import { HEAD } from './kubernetes.ts';

const FOLDER = 'infra/kubernetes/chart';
const CHART_HEAD = '# Generated from the manifests of infra/kubernetes by npm run generate.';
const NAMESPACE = '{{ .Release.Namespace | quote }}';
const TEMPLATES = ['settings', 'migrate', 'apps', 'ingress'] as const;
const NAME = { type: 'string', minLength: 1 };
const INTEGER = { type: 'integer', minimum: 1 };
const RESOURCES = { cpu: { type: ['string', 'number'] }, memory: { type: 'string' } };

/** The values and groups of values by their names: `values.yaml` and its schema are made of their rules. */
type Values = Map<string, { description?: string; default?: unknown; [rule: string]: unknown }>;

/** What is not in the manifests. */
const RULES = {
  image: { description: 'Your image with its tag or digest: no registry has localhost/tocsin.', pattern: '^\\S+$' },
  domain: {
    description: 'Required, such as incidents.example.com: workspaces are <slug>.<domain>.',
    ...{ pattern: DOMAIN.source, default: '' },
  },
  authorities: {
    description: 'Certificates of your own authorities, in PEM: helm install --set-file authorities=ca.pem.',
    ...{ pattern: '^$|-----BEGIN CERTIFICATE-----', not: { pattern: 'PRIVATE KEY' } },
  },
  ingress: {
    description: 'What leads the domain and the hosts of all workspaces to the gateway.',
    ...{ if: { properties: { type: { const: 'gateway-api' } } }, then: { properties: { class: NAME } } },
  },
  'ingress.type': { enum: INGRESSES, default: INGRESSES[0] },
  'ingress.class': {
    description: `The class of its controller. An Ingress has ${DEFAULT_CLASS} by default.`,
    ...{ type: 'string', default: '' },
  },
  secrets: { description: 'The names of Secrets. The chart creates none: examples/secrets.yaml has their keys.' },
  apps: { description: 'How many pods the autoscaler starts of each app, and what each pod has.' },
  settings: { description: 'The settings of the apps, all of them strings (helm install --set-string).' },
};

const camelCase = (name: string) => name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** Lets a scalar of a manifest be a value of the chart, which has by default what the manifest has. */
function replace(values: Values, document: Document, place: readonly unknown[], name: string, rules: object = {}) {
  const value = { type: 'string', ...rules, default: document.getIn(place), ...values.get(name) };
  values.set(name, value);
  document.setIn(place, `{{ .Values.${name}${value.type === 'integer' ? '' : ' | quote'} }}`);
}

function replaceSettings(values: Values, document: Document): void {
  const data = document.get('data') as YAMLMap<Scalar<string>>;
  for (const { key } of data.items) {
    const description = (key.commentBefore ?? '').replaceAll(/^ | ?generated: .*/gm, '').trim();
    delete key.commentBefore;
    const name = key.value === 'BASE_DOMAIN' ? 'domain' : `settings.${key.value}`;
    replace(values, document, ['data', key.value], name, description === '' ? {} : { description });
  }
  delete data.comment;
  const certificates = `or .Values.settings.NODE_EXTRA_CA_CERTS (and .Values.authorities "${AUTHORITIES_FILE}")`;
  document.setIn(['data', 'NODE_EXTRA_CA_CERTS'], `{{ ${certificates} | quote }}`);
}

function replaceInPods(values: Values, document: Document, app: string): void {
  const container = ['spec', 'template', 'spec', 'containers', 0];
  replace(values, document, [...container, 'image'], 'image');
  const sources = document.getIn([...container, 'envFrom']) as YAMLSeq;
  for (const index of sources.items.keys()) {
    const secret = [...container, 'envFrom', index, 'secretRef', 'name'];
    const name = document.getIn(secret);
    if (typeof name === 'string')
      replace(values, document, secret, `secrets.${camelCase(name.replace('tocsin-', ''))}`, NAME);
  }
  if (document.get('kind') === 'Job') return;
  for (const kind of ['requests', 'limits']) {
    for (const [resource, rules] of Object.entries(RESOURCES)) {
      const place = ['resources', kind, resource];
      replace(values, document, [...container, ...place], `apps.${app}.${place.join('.')}`, rules);
    }
  }
}

function replaceIn(values: Values, document: Document): void {
  const kind = document.get('kind');
  const app = camelCase(String(document.getIn(['metadata', 'name'])));
  document.setIn(['metadata', 'namespace'], NAMESPACE);
  if (kind === 'Deployment' || kind === 'Job') replaceInPods(values, document, app);
  if (kind === 'HorizontalPodAutoscaler') {
    for (const name of ['minReplicas', 'maxReplicas'])
      replace(values, document, ['spec', name], `apps.${app}.${name}`, INTEGER);
  }
}

/** Lets Helm apply a manifest before those that are no hooks. */
function hook(document: Document, weight: number, deletion: string): Document {
  document.setIn(['metadata', 'annotations'], {
    'helm.sh/hook': 'pre-install,pre-upgrade',
    'helm.sh/hook-weight': String(weight),
    'helm.sh/hook-delete-policy': deletion,
  });
  return document;
}

/** A ConfigMap for the migration, which runs before the release has its own. */
function forHook(document: Document): Document {
  const copy = document.clone();
  copy.setIn(['metadata', 'name'], `${String(copy.getIn(['metadata', 'name']))}-migrate`);
  return hook(copy, -1, 'before-hook-creation,hook-succeeded');
}

const template = (documents: readonly Document[]) =>
  text(documents)
    .replaceAll(`${HEAD}\n`, '')
    .replaceAll(/^ *# (?:generated: .*|end of what is generated)\n/gm, '')
    .replaceAll(/(["'])(\{\{.*?\}\})\1/g, '$2');

async function templates(values: Values): Promise<Record<(typeof TEMPLATES)[number], string>> {
  const settings = (await kustomized('settings')).find((each) => each.get('kind') === 'ConfigMap');
  const [job] = await kustomized('migrate');
  if (settings === undefined || job === undefined) throw new Error('the manifests have no ConfigMap or no Job');
  const authorities = authoritiesOf('');
  const apps = await kustomized('.');
  for (const document of [settings, authorities, ...apps, job]) replaceIn(values, document);
  replace(values, authorities, ['data', path.basename(AUTHORITIES_FILE)], 'authorities');
  replaceSettings(values, settings);
  const migration = template([hook(job, 0, 'before-hook-creation')]).replaceAll(
    / name: (tocsin|tocsin-authorities)(?=[ ,])/g,
    ' name: $1-migrate',
  );
  const ifAuthorities = (document: Document) =>
    `{{- if .Values.authorities }}\n---\n${template([document])}{{- end }}\n`;
  const ingress = async (...options: Parameters<typeof ingressManifests>) =>
    (await ingressManifests(...options))
      .replace(/^(?:#.*\n)+/, '')
      .replaceAll(/(namespace|metadata\.name): tocsin\b/g, `$1: ${NAMESPACE}`)
      .trimEnd();
  return {
    settings: `${template([settings])}${ifAuthorities(authorities)}`,
    migrate: `${template([forHook(settings)])}${ifAuthorities(forHook(authorities))}---\n${migration}`,
    apps: template(apps),
    ingress: `{{- if eq .Values.ingress.type "ingress" }}
${await ingress('ingress', '{{ .Values.domain }}', `{{ or .Values.ingress.class "${DEFAULT_CLASS}" | quote }}`)}
{{- else if eq .Values.ingress.type "gateway-api" }}
${await ingress('gateway-api', '{{ .Values.domain }}', '{{ .Values.ingress.class | quote }}')}
{{- end }}
`,
  };
}

/** The names in a group of values; `''` is the group of all. */
const namesIn = (values: Values, group: string): string[] => [
  ...new Set(
    [...values.keys()].flatMap((name) => (name.startsWith(group) ? name.slice(group.length).split('.', 1) : [])),
  ),
];

/** `values.yaml`: what each value of a group has by default, under its description. */
const valuesText = (values: Values, group = ''): string =>
  namesIn(values, group)
    .map((name) => {
      const { description = '', ...rules } = values.get(`${group}${name}`) ?? {};
      const indent = '  '.repeat(group.split('.').length - 1);
      const comment = description === '' ? '' : `${description.replaceAll(/^/gm, `${indent}# `)}\n`;
      const content =
        'default' in rules ? ` ${JSON.stringify(rules.default)}` : `\n${valuesText(values, `${group}${name}.`)}`;
      return `${comment}${indent}${name}:${content}`;
    })
    .join('\n');

/** All values are required: `values.yaml` has each, and a null would remove it. */
function schemaOf(values: Values, group = ''): { properties: Record<string, object> } {
  const names = namesIn(values, group);
  const schemas = names.map((name) => {
    const { description, ...rules } = values.get(`${group}${name}`) ?? {};
    return {
      ...(description !== undefined && { description: description.replaceAll('\n', ' ') }),
      ...rules,
      ...(!('default' in rules) && schemaOf(values, `${group}${name}.`)),
    };
  });
  const properties = Object.fromEntries(names.map((name, index) => [name, schemas[index] ?? {}]));
  return { ...{ type: 'object', additionalProperties: false, required: names }, properties };
}

async function chart(): Promise<Record<string, string>> {
  const values: Values = new Map(Object.entries(RULES));
  const files = await templates(values);
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...schemaOf(values) };
  // Helm gives it to a chart on which another one depends.
  schema.properties['global'] = { type: 'object' };
  const { version, description } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as Record<
    'version' | 'description',
    string
  >;
  const about = { apiVersion: 'v2', name: 'tocsin', type: 'application', description, version, appVersion: version };
  return {
    'Chart.yaml': await formatted('Chart.yaml', `${CHART_HEAD}\n${stringify(about, { lineWidth: 0 })}`),
    'values.yaml': await formatted('values.yaml', `${CHART_HEAD}\n${valuesText(values)}`),
    'values.schema.json': await jsonText(schema),
    ...Object.fromEntries(TEMPLATES.map((name) => [`templates/${name}.yaml`, `${CHART_HEAD}\n${files[name]}`])),
  };
}

let files: Promise<Record<string, string>> | undefined;

/** The Helm chart: the manifests, with values in place of what an installation may change. */
export const chartFiles = [
  ...['Chart.yaml', 'values.yaml', 'values.schema.json'],
  ...TEMPLATES.map((name) => `templates/${name}.yaml`),
].map((name) => ({
  file: `${FOLDER}/${name}`,
  // Only now: the manifests are generated before.
  generate: async () => (await (files ??= chart()))[name] ?? '',
}));
