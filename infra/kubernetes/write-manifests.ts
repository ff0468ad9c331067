import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError, type Environment, urlsOfHosts } from '@tocsin/runtime';
import { Document, parseAllDocuments, parseDocument } from 'yaml';
import { APP_NAMES } from '../installation/apps.ts';
import { brokerFiles, cacheFiles, installationSecrets } from '../installation/installation-secrets.ts';
import { keptSecrets } from '../installation/kept-secrets.ts';
import { OWNER_ONLY } from '../installation/write-atomically.ts';

export const INGRESSES = ['ingress', 'gateway-api', 'none'] as const;

export interface ManifestOptions {
  domain: string;
  out: string;
  /** The image with its tag or digest; by default the one that the kustomizations name. */
  image?: string;
  secrets: 'generated' | 'external';
  ingress: (typeof INGRESSES)[number];
  ingressClass?: string;
  /** A file with the certificates of authorities that are not public, in PEM. */
  ca?: string;
  /** Other values of the ConfigMap. */
  settings: Readonly<Record<string, string>>;
}

/** The domain that the examples and the settings have. */
const EXAMPLE_DOMAIN = 'tocsin.example.com';
/** Where the class of the controller stands, and what the examples have there. */
const CLASSES = {
  ingress: { field: 'ingressClassName', example: 'nginx' },
  'gateway-api': { field: 'gatewayClassName', example: 'REPLACE' },
};
/** The class of an Ingress, unless the options name another. */
export const DEFAULT_CLASS = CLASSES.ingress.example;
const KEPT = 'kept';
const AUTHORITIES = { folder: '/etc/tocsin/authorities', file: 'ca.crt', name: 'tocsin-authorities' };
/** Where pods have the certificates. */
export const AUTHORITIES_FILE = path.posix.join(AUTHORITIES.folder, AUTHORITIES.file);
export const DOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;

const read = async (file: string) => readFile(path.join(import.meta.dirname, file), 'utf8');

/**
 * Writes the manifests of an installation into a folder, from the kustomizations and the examples beside this file.
 * Secrets are generated once and kept in the folder, so the same call changes none. Returns what to do with the files.
 * @throws ConfigError naming the option or the setting that cannot be used
 */
export async function writeManifests(options: ManifestOptions, env: Environment): Promise<string[]> {
  const { domain, out } = options;
  if (!DOMAIN.test(domain)) throw new ConfigError(`--domain: ${domain} is not a domain, such as incidents.example.com`);
  await mkdir(out, { recursive: true });
  const files = new Map<string, string>();
  const authorities = options.ca === undefined ? undefined : authoritiesOf(await readCertificates(options.ca));
  const NODE_EXTRA_CA_CERTS = authorities === undefined ? '' : AUTHORITIES_FILE;
  for (const [file, folder] of [
    ['settings.yaml', 'settings'],
    ['migrate.yaml', 'migrate'],
    ['apps.yaml', '.'],
    ['admin.yaml', 'admin'],
  ] as const) {
    const documents = await kustomized(folder, options.image);
    for (const document of documents) {
      if (document.get('kind') === 'ConfigMap')
        set(document, { NODE_EXTRA_CA_CERTS, ...options.settings, BASE_DOMAIN: domain });
    }
    if (folder === 'settings' && authorities !== undefined) documents.push(authorities);
    files.set(file, text(documents));
  }
  if (options.ingress !== 'none') {
    const ingressClass = options.ingressClass ?? (options.ingress === 'ingress' ? DEFAULT_CLASS : undefined);
    if (ingressClass === undefined) {
      throw new ConfigError('--ingress-class: the Gateway API needs the class of its controller');
    }
    files.set('ingress.yaml', await ingressManifests(options.ingress, domain, ingressClass));
  }

  const steps = ['kubectl apply -f settings.yaml'];
  if (options.secrets === 'generated') {
    const { secrets, servers, definitions } = await secretsOf(out, env);
    files.set('secrets.yaml', secrets);
    steps.push('kubectl apply -f secrets.yaml');
    if (servers !== '') {
      files.set('servers.yaml', servers);
      steps.push('kubectl apply -f servers.yaml');
    }
    if (definitions !== undefined) {
      files.set('rabbitmq-definitions.json', definitions);
      steps.push('rabbitmqctl import_definitions rabbitmq-definitions.json    # on your RabbitMQ');
    }
    files.set('.gitignore', `${KEPT}/\nsecrets.yaml\nrabbitmq-definitions.json\n`);
  } else {
    steps.push(`# the Secrets ${secretNames().join(', ')}: examples/secrets.yaml has their keys`);
  }
  steps.push(
    'kubectl delete -n tocsin job/migrate --ignore-not-found',
    'kubectl apply -f migrate.yaml',
    'kubectl wait -n tocsin --for=condition=complete --timeout=10m job/migrate',
    'kubectl apply -f apps.yaml',
    ...(options.ingress === 'none' ? [] : ['kubectl apply -f ingress.yaml']),
  );
  for (const [name, content] of files) await writeFile(path.join(out, name), content, { mode: OWNER_ONLY });
  return steps;
}

const secretNames = () => [...APP_NAMES, 'databases', 'migrate', 'admin'].map((name) => `tocsin-${name}`);

/** What leads the hosts of all workspaces to the gateway. */
export async function ingressManifests(ingress: keyof typeof CLASSES, domain: string, ingressClass: string) {
  const { field, example } = CLASSES[ingress];
  const manifests = (await read(`examples/${ingress}.yaml`)).replaceAll(EXAMPLE_DOMAIN, domain);
  return manifests.replace(`${field}: ${example}`, `${field}: ${ingressClass}`);
}

export const text = (documents: readonly Document[]) =>
  documents.map((document) => document.toString({ lineWidth: 0, directives: false }).trimEnd()).join('\n---\n') + '\n';

interface Kustomization {
  namespace: string;
  resources: string[];
  images?: { name: string; newTag: string }[];
}

/** The files of a kustomization, without those of other folders, with its namespace and image: what `kubectl kustomize` does. */
export async function kustomized(folder: string, image?: string): Promise<Document[]> {
  const {
    apiVersion,
    kind,
    namespace,
    resources,
    images = [],
    ...others
  } = parseDocument(await read(path.join(folder, 'kustomization.yaml'))).toJS() as Kustomization &
    Record<string, unknown>;
  if (Object.keys(others).length > 0) throw new Error(`${String(kind)} ${folder}: has ${Object.keys(others).join()}`);
  const documents: Document[] = [];
  for (const resource of resources.filter((each) => each.endsWith('.yaml'))) {
    let source = await read(path.join(folder, resource));
    for (const { name, newTag } of images) {
      source = source.replaceAll(
        new RegExp(`(\\bimage: )${name}$`, 'gm'),
        (_, key: string) => `${key}${image ?? `${name}:${newTag}`}`,
      );
    }
    for (const document of parseAllDocuments(source) as Document[]) {
      if (document.get('kind') !== 'Namespace') document.setIn(['metadata', 'namespace'], namespace);
      documents.push(document);
    }
  }
  return documents;
}

/** @throws ConfigError about a file without certificates */
async function readCertificates(file: string): Promise<string> {
  const certificates = await readFile(file, 'utf8').catch(() => '');
  if (!certificates.includes('-----BEGIN CERTIFICATE-----') || certificates.includes('PRIVATE KEY'))
    throw new ConfigError('--ca: must be a file with certificates in PEM, and no key');
  return certificates;
}

/** The ConfigMap that all pods mount if it is there. */
export const authoritiesOf = (certificates: string): Document =>
  new Document({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: AUTHORITIES.name, namespace: 'tocsin' } },
    data: { [AUTHORITIES.file]: certificates },
  });

/** @throws ConfigError about a name that the ConfigMap does not have */
function set(document: Document, settings: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(settings)) {
    if (!document.hasIn(['data', name])) throw new ConfigError(`--set: infra/kubernetes/settings has no ${name}`);
    document.setIn(['data', name], value);
  }
}

/** The Secrets and, for servers that `env` does not name, the examples. */
async function secretsOf(out: string, env: Environment) {
  const secrets = keptSecrets(path.join(out, KEPT), { ...env, NODE_ENV: 'production' });
  const database = await secrets.remembered('DATABASE_URL');
  if (database === undefined) {
    throw new ConfigError('DATABASE_URL: must name the PostgreSQL, with a role that may create roles and schemas');
  }
  const broker = await secrets.remembered('AMQP_URL');
  const cache = await secrets.remembered('REDIS_URL');
  const cachePassword = cache === undefined ? await secrets.password('REDIS_PASSWORD') : '';
  for (const [name, url, path] of [
    ['DATABASE_URL', database, /^\/./],
    ['AMQP_URL', broker, /^\/?$/],
  ] as const) {
    if (url === undefined) continue;
    const server = URL.parse(urlsOfHosts(url)[0]);
    if (server === null || server.username === '') throw new ConfigError(`${name}: must be a URL with a user`);
    if (!path.test(server.pathname)) {
      throw new ConfigError(`${name}: must name ${name === 'AMQP_URL' ? 'the virtual host /' : 'a database'}`);
    }
  }
  const installation = await installationSecrets(secrets, env, {
    DATABASE_URL: database,
    AMQP_URL: broker ?? `amqp://tocsin:${await secrets.password('RABBITMQ_PASSWORD')}@rabbitmq:5672`,
    REDIS_URL: cache ?? `redis://:${cachePassword}@redis:6379`,
  });
  const { apps, databases, admin, definitions } = installation;
  const contents: Record<string, Record<string, string>> = {
    ...Object.fromEntries(APP_NAMES.map((app) => [`tocsin-${app}`, apps[app]])),
    'tocsin-databases': databases,
    'tocsin-migrate': { DATABASE_URL: database },
    'tocsin-admin': admin,
    ...(broker === undefined && { rabbitmq: brokerFiles(definitions) }),
    ...(cache === undefined && { redis: cacheFiles(cachePassword) }),
  };
  const documents = Object.entries(contents).map(
    ([name, stringData]) =>
      new Document({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'tocsin' }, stringData }),
  );
  const examples = [...(broker === undefined ? ['rabbitmq'] : []), ...(cache === undefined ? ['redis'] : [])];
  return {
    secrets: text(documents),
    servers: (await Promise.all(examples.map(async (name) => read(`examples/${name}.yaml`)))).join('---\n'),
    definitions: broker === undefined ? undefined : `${JSON.stringify(definitions, null, 2)}\n`,
  };
}
