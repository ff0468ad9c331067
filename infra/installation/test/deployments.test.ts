import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Environment, generateSecretKeys, openKeyring, parseSecretKeys, withFileSettings } from '@tocsin/runtime';
import { describeWithProgram } from '@tocsin/testing/suites';
import { parse, parseAllDocuments } from 'yaml';
import { APP_NAMES, APPS, type AppName } from '../apps.ts';
import { writeSecrets } from '../../compose/write-secrets.ts';
import { ROOT } from '../environment.ts';
import { migrateConfig } from '../../migrate/config.ts';
import { readSettings } from '../../verification/systems/read-settings.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

/** The environment of the images, without build arguments. */
const IMAGE: Environment = Object.fromEntries(
  [
    ...read('infra/Dockerfile')
      .replaceAll(/\$\{\w+\}/g, '')
      .matchAll(/^ENV (.+)$/gm),
  ].flatMap(([, pairs = '']) =>
    [...pairs.matchAll(/(\w+)=(?:"([^"]*)"|(\S*))/g)].map(([, name = '', quoted, text = '']) => [name, quoted ?? text]),
  ),
);

// Every variable has its default.
const interpolated = (_key: unknown, value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1') : value;
const { services } = parse(read('docker-compose.yml'), interpolated, { merge: true }) as {
  services: Record<string, { environment: Environment }>;
};
const composed = (name: string): Environment => services[name]?.environment ?? {};

/** The output of the job of Compose at the first start. */
const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-compose-'));
beforeAll(async () => writeSecrets(folder, composed('secrets')));
afterAll(() => rmSync(folder, { recursive: true }));

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Manifest = any;

const manifests: Manifest[] = readdirSync(path.join(ROOT, 'infra/kubernetes'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.yaml') && !file.startsWith('chart/'))
  .flatMap((file) => parseAllDocuments(read(`infra/kubernetes/${file}`)).map((document) => document.toJS()));
const find = (kind: string, name: string): Manifest =>
  manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);

/** The environment of a container, as the cluster composes it, with passwords instead of placeholders. */
function inCluster({ env = [], envFrom = [] }: Manifest): Environment {
  const valuesOf = (kind: string, name: string): Environment => {
    const { data, stringData } = find(kind, name);
    return JSON.parse(JSON.stringify({ ...data, ...stringData }).replaceAll('REPLACE', 'of-our-own'));
  };
  const shared = envFrom.map(({ configMapRef, secretRef }: Manifest) =>
    configMapRef === undefined ? valuesOf('Secret', secretRef.name) : valuesOf('ConfigMap', configMapRef.name),
  );
  const own = env.map(({ name, value, valueFrom }: Manifest) => [
    name,
    value ?? valuesOf('Secret', valueFrom.secretKeyRef.name)[valueFrom.secretKeyRef.key],
  ]);
  return { ...Object.assign({}, ...shared), ...Object.fromEntries(own) };
}

/** The environment of a container by the name of an app or a job. */
const DEPLOYMENTS: Record<string, (name: string) => Environment> = {
  Compose: (name) =>
    withFileSettings(
      Object.fromEntries(
        Object.entries({ ...IMAGE, ...composed(name) }).map(([key, value = '']) => [
          key,
          value.replace('/run/tocsin', path.join(folder, name)),
        ]),
      ),
    ),
  Kubernetes: (name) => inCluster((find('Deployment', name) ?? find('Job', name)).spec.template.spec.containers[0]),
};

/**
 * Settings that no container needs: an app's own database URL takes precedence over the general one, receivers on
 * loopback addresses are refused in production, the image itself says from which commit it is, and the proxy has its names
 * in upper case.
 */
const NOT_NEEDED = ['DATABASE_URL', 'WEBHOOK_TEST_RECEIVERS', 'TOCSIN_COMMIT', 'https_proxy', 'no_proxy'];

describe.each(Object.entries(DEPLOYMENTS))('in %s', (_, environmentOf) => {
  /** The settings that a reader looks up, and that are not there. */
  const read = (reader: (env: Environment) => unknown, name: string) => {
    const env = environmentOf(name);
    const { config, names } = readSettings(reader, env);
    const missing = [...names].filter(
      (each) => !(each in env) && !NOT_NEEDED.includes(each) && !each.endsWith('_FILE'),
    );
    return { config, missing, env };
  };

  test.each(APP_NAMES)('%s has every setting that it reads, its own database, and no address of its own', (app) => {
    const { config, missing, env } = read(APPS[app].readConfig, app);
    expect(missing).toEqual([]);
    expect(JSON.stringify(config)).not.toMatch(/:\/\/(?:[^/"]*@)?(?:localhost|127\.0\.0\.1|\[::1\])/);
    expect(env['NODE_ENV']).toBe('production');
    const databases = Object.keys(env).filter((name) => name.endsWith('DATABASE_URL') && env[name] !== undefined);
    expect(databases).toEqual([APPS[app].databaseVariable]);
  });

  test('the internal server of the gateway is where the others look for it, and migrations reach every schema', () => {
    const { port } = new URL(environmentOf('incident')['GATEWAY_INTERNAL_URL'] ?? '');
    const { config } = read(APPS.gateway.readConfig, 'gateway');
    expect(config).toMatchObject({ http: { host: '0.0.0.0' }, internal: { host: '0.0.0.0', port: Number(port) } });
    const { config: migration } = read(migrateConfig, 'migrate');
    const owned = APP_NAMES.map((app) => environmentOf(app)[APPS[app].databaseVariable]);
    expect((migration as { targets: { url: string }[] }).targets.map(({ url }) => url)).toEqual(owned);
  });
});

test.each(APP_NAMES)('%s does not start with the placeholders of the examples for Kubernetes', (app: AppName) => {
  const { stringData } = find('Secret', `tocsin-${app}`);
  const env = { ...DEPLOYMENTS['Kubernetes']?.(app), ...stringData };
  expect(() => readSettings(APPS[app].readConfig, env)).toThrow(
    `${APPS[app].databaseVariable}: is a default that everybody can read`,
  );
  expect(() => parseSecretKeys(stringData.TOCSIN_SECRET_KEYS)).toThrow('TOCSIN_SECRET_KEYS');
});

describeWithProgram('kubectl')('kubectl', () => {
  test.each(['.', 'migrate', 'admin'])('builds the kustomization %s', (name) => {
    const { status, stderr } = spawnSync('kubectl', ['kustomize', path.join(ROOT, 'infra/kubernetes', name)]);
    expect([status, stderr.toString()]).toEqual([0, '']);
  });
});

describeWithProgram('docker-compose')('docker-compose', () => {
  test('reads the file of Compose', () => {
    const args = ['--profile', '*', 'config', '--quiet'];
    const { status, stderr } = spawnSync('docker-compose', args, { cwd: ROOT });
    expect([status, stderr.toString()]).toEqual([0, '']);
  });
});

describe('the secrets of Compose', () => {
  const settingsOf = (name: string) => DEPLOYMENTS['Compose']?.(name) ?? {};
  const text = (...names: string[]) => readFileSync(path.join(folder, ...names), 'utf8').trim();
  const everything = () =>
    Object.fromEntries(
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name)))
        .map((file) => [file, text(file)]),
    );

  test('stay the same at the next start', async () => {
    const before = everything();
    await writeSecrets(folder, composed('secrets'));
    expect(everything()).toEqual(before);
    const passwords = Object.entries(before).filter(([file]) => file.startsWith('kept/') && file.endsWith('PASSWORD'));
    expect(passwords).toHaveLength(2 * APP_NAMES.length + 3);
    expect(new Set(passwords.map(([, value]) => value)).size).toBe(passwords.length);
  });

  test('have the same passwords for servers and apps', () => {
    const passwordIn = (name: string, setting: string) => new URL(settingsOf(name)[setting] ?? '').password;
    expect(text('postgres', 'password')).toBe(passwordIn('migrate', 'DATABASE_URL'));
    const brokerUsers = [...APP_NAMES, 'admin'].map((app) => {
      const { username, password } = new URL(settingsOf(app)['AMQP_URL'] ?? '');
      return [username, password];
    });
    const { users } = JSON.parse(text('rabbitmq', 'definitions.json'));
    expect(text('rabbitmq', 'tocsin.conf')).toContain('load_definitions = /run/tocsin/definitions.json');
    expect(users.map(({ name }: { name: string }) => name).sort()).toEqual(brokerUsers.map(([name]) => name).sort());
    for (const { name, password_hash } of users) {
      const hash = Buffer.from(password_hash, 'base64');
      const [, password = ''] = brokerUsers.find(([user]) => user === name) ?? [];
      const salted = Buffer.concat([hash.subarray(0, 4), Buffer.from(password)]);
      expect(hash.subarray(4)).toEqual(createHash('sha256').update(salted).digest());
      expect(text('rabbitmq', 'definitions.json')).not.toContain(password);
    }
    for (const app of ['incident', 'admin']) {
      expect(text('redis', 'tocsin.conf')).toBe(`requirepass ${passwordIn(app, 'REDIS_URL')}`);
    }
  });

  test('give each app its own keys and no root key', () => {
    const roots = text('kept', 'TOCSIN_SECRET_KEYS');
    const holders: Record<string, string[]> = {
      'on-call-source': ['catalog'],
      'webhook-secret': ['webhook'],
      'chat-token': ['incident', 'admin'],
      'tracker-address': ['incident', 'admin'],
      'principal/gateway/incident': ['gateway', 'incident'],
      'principal/incident/catalog': ['incident', 'catalog'],
      'principal/webhook/incident': ['incident', 'webhook'],
      'principal/webhook/catalog': [],
    };
    for (const name of [...APP_NAMES, 'admin']) {
      const keys = settingsOf(name)['TOCSIN_SECRET_KEYS'] ?? '';
      expect(keys).not.toContain(roots.slice(roots.indexOf(':') + 1));
      const opens = (purpose: string) => {
        try {
          return openKeyring(keys, purpose).sign('x').equals(openKeyring(roots, purpose).sign('x'));
        } catch {
          return false;
        }
      };
      for (const [purpose, names] of Object.entries(holders))
        expect([name, purpose, opens(purpose)]).toEqual([name, purpose, names.includes(name)]);
    }
  });

  test('come from the environment if it sets them; errors name invalid ones', async () => {
    const other = mkdtempSync(path.join(tmpdir(), 'tocsin-compose-'));
    const write = async (env: Environment) => writeSecrets(other, { NODE_ENV: 'production', ...env });
    try {
      await write({ TOCSIN_SECRET_KEYS: generateSecretKeys(), POSTGRES_PASSWORD: 'mine_1' });
      expect(readFileSync(path.join(other, 'postgres/password'), 'utf8').trim()).toBe('mine_1');
      expect(readdirSync(path.join(other, 'kept'))).not.toContain('TOCSIN_SECRET_KEYS');
      const development = 'development:dGhpcyBrZXkgaXMgZm9yIGRldmVsb3BtZW50IG9ubHk=';
      for (const [name, value, message] of [
        ['POSTGRES_PASSWORD', 'a b@c', 'must be'],
        ['RABBITMQ_PASSWORD', 'development-only', 'is a default that everybody can read'],
        ['TOCSIN_SECRET_KEYS', development, 'is a default that everybody can read'],
        ['TOCSIN_SECRET_KEYS', 'k1:short', 'must be'],
      ] as const)
        await expect(write({ [name]: value })).rejects.toThrow(`${name}: ${message}`);
    } finally {
      rmSync(other, { recursive: true });
    }
  });
});
