import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Environment, generateSecretKeys, openKeyring, withFileSettings } from '@tocsin/runtime';
import { parse } from 'yaml';
import { APP_NAMES, APPS } from '../apps.ts';
import { writeSecrets } from '../compose/write-secrets.ts';
import { ROOT } from '../environment.ts';
import { migrateConfig } from '../migrate/config.ts';
import { addressesOfOwnMachine, isNeeded, readSettings } from './read-settings.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
// Without build arguments.
const dockerfile = read('infra/Dockerfile').replaceAll(/\$\{\w+\}/g, '');
/** The environment of the images. */
const IMAGE: Environment = Object.fromEntries(
  [...dockerfile.matchAll(/^ENV (.+)$/gm)].flatMap(([, pairs = '']) =>
    pairs.split(' ').map((pair) => pair.split('=') as [string, string]),
  ),
);

interface Service {
  build?: { target: string };
  ports?: string[];
  volumes?: string[];
  environment: Environment;
  [key: string]: unknown;
}

// Every variable has its default.
const interpolated = (_key: unknown, value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1') : value;
const { services, volumes } = parse(read('docker-compose.yml'), interpolated, { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
};
const service = (name: string) => services[name]!;

/** The volumes of a container, with their mount points and modes. */
const mountsOf = (name: string) =>
  (service(name).volumes ?? []).map((mount) => {
    const [volume = '', target = '', mode] = mount.split(':');
    return { volume, target, mode };
  });

/** The output of the job at the first start. */
const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-compose-'));
beforeAll(async () => writeSecrets(folder, service('secrets').environment));
afterAll(() => rmSync(folder, { recursive: true }));

/** The path in that folder of a file that a container mounts. */
function inFolder(name: string, file: string): string {
  const mount = mountsOf(name).find(({ target }) => file.startsWith(`${target}/`));
  const made = mountsOf('secrets').find(({ volume }) => volume === mount?.volume);
  if (mount === undefined || made === undefined) throw new Error(`${name} has no ${file}`);
  return path.join(folder, path.relative('/secrets', made.target), path.relative(mount.target, file));
}

/** The environment of a container, with paths in that folder instead of paths in its volumes. */
const environmentOf = (name: string): Environment =>
  Object.fromEntries(
    Object.entries({ ...IMAGE, ...service(name).environment }).map(([key, value = '']) => [
      key,
      key.endsWith('_FILE') ? inFolder(name, value) : value,
    ]),
  );
const settingsOf = (name: string) => withFileSettings(environmentOf(name));

test('every image is built with the commit that it names, and labelled with version and commit', () => {
  const builds = Object.values(services).flatMap(({ build }) => build ?? []);
  expect(new Set(builds.map(({ target }) => target))).toEqual(new Set([...APP_NAMES, 'jobs']));
  for (const build of builds) expect(build).toMatchObject({ args: { TOCSIN_COMMIT: '' } });
  const [, runtime = ''] = read('infra/Dockerfile').split('\nFROM base AS runtime\n');
  expect(runtime).toMatch(
    /^LABEL org\.opencontainers\.image\.version="\$\{TOCSIN_VERSION\}" org\.opencontainers\.image\.revision="\$\{TOCSIN_COMMIT\}"$/m,
  );
  expect(runtime).toMatch(/^ENV TOCSIN_COMMIT=\$\{TOCSIN_COMMIT\}$/m);
  expect(dockerfile.match(/^FROM runtime AS /gm)).toHaveLength(APP_NAMES.length + 1);
});

const isLoopback = (port: string) => port.startsWith('127.0.0.1:');

test('only the gateway can be reached from outside', () => {
  const open = Object.keys(services).filter((name) => service(name).ports?.some((port) => !isLoopback(port)));
  expect(open).toEqual(['gateway']);
});

describe('the profile observability', () => {
  const OPTIONAL = ['prometheus', 'grafana'];

  test('is optional, unprivileged, on the loopback address, and has images of fixed versions', () => {
    for (const name of OPTIONAL) {
      expect(service(name)).toMatchObject({ profiles: ['observability'], read_only: true, cap_drop: ['ALL'] });
      expect(service(name)['image']).toMatch(/:v?\d+[.]\d+[.]\d+$/);
      expect(service(name).ports?.every(isLoopback)).toBe(true);
      expect(mountsOf(name).filter(({ volume }) => volume.endsWith('-secrets'))).toEqual([]);
    }
    const always = Object.keys(services).filter((name) => service(name)['profiles'] === undefined);
    for (const name of always) {
      expect(
        OPTIONAL.filter((optional) => optional in ((service(name)['depends_on'] as object | undefined) ?? {})),
      ).toEqual([]);
    }
  });

  test('mounts files that exist, read only, and declared volumes', () => {
    for (const { volume, mode } of OPTIONAL.flatMap(mountsOf)) {
      if (!volume.startsWith('./')) expect(volumes).toHaveProperty(volume);
      else expect([volume, statSync(path.join(ROOT, volume)).isFile(), mode]).toEqual([volume, true, 'ro']);
    }
  });

  /** The file of this repository that a container has at a path. */
  const mounted = (name: string, target: string) => {
    const { volume = 'nothing' } = mountsOf(name).find((mount) => mount.target === target) ?? {};
    return read(volume);
  };

  test('scrapes every app at the port with its metrics', () => {
    const { scrape_configs: jobs } = parse(mounted('prometheus', '/etc/prometheus/prometheus.yaml')) as {
      scrape_configs: { job_name: string; dns_sd_configs: { names: string[]; port: number }[] }[];
    };
    expect(jobs.map(({ job_name: name }) => name)).toEqual(['tocsin']);
    const scraped = jobs.flatMap(({ dns_sd_configs: lookups }) =>
      lookups.flatMap(({ names, port }) => names.map((name) => [name, port])),
    );
    const served = APP_NAMES.map((app) => {
      const { config } = readSettings(APPS[app].readConfig, environmentOf(app));
      const { http, internal } = config as { http: { port: number }; internal?: { port: number } };
      return [app, (internal ?? http).port];
    });
    expect(scraped.toSorted()).toEqual(served.toSorted());
    for (const app of APP_NAMES) expect(service(app)['networks']).toContain('inside');
    expect(service('prometheus')['networks']).toContain('inside');
    expect(mounted('prometheus', '/etc/prometheus/rules.yaml')).toContain('groups:');
  });

  test("Grafana finds Prometheus, and its dashboard's data source", () => {
    const { datasources } = parse(mounted('grafana', '/etc/grafana/provisioning/datasources/tocsin.yaml')) as {
      datasources: { type: string; url: string; isDefault: boolean }[];
    };
    expect(datasources).toMatchObject([{ type: 'prometheus', url: 'http://prometheus:9090', isDefault: true }]);
    const { providers } = parse(mounted('grafana', '/etc/grafana/provisioning/dashboards/tocsin.yaml')) as {
      providers: { options: { path: string } }[];
    };
    const dashboard = mountsOf('grafana').find(({ target }) => target.startsWith(`${providers[0]?.options.path}/`));
    expect(dashboard?.volume).toBe('./infra/observability/dashboard.json');
    expect(mounted('grafana', '/etc/grafana/grafana.ini')).toContain(dashboard?.target);
    expect(service('grafana')['networks']).toEqual(['observability']);
    expect(service('prometheus')['networks']).toContain('observability');
  });
});

describe.each(APP_NAMES)('%s', (app) => {
  test('has every setting that it reads, and no address points to its own container', async () => {
    const env = environmentOf(app);
    const { config, names } = readSettings(APPS[app].readConfig, env);
    expect([...names].filter((name) => !(name in env) && !(`${name}_FILE` in env) && isNeeded(name))).toEqual([]);
    expect(addressesOfOwnMachine(config)).toEqual([]);
    expect(env['NODE_ENV']).toBe('production');
  });

  test('has no database URL of another app', () => {
    const given = Object.keys(settingsOf(app)).filter((name) => /DATABASE_URL(?:_FILE)?$/.test(name));
    expect(given.filter((name) => settingsOf(app)[name] !== undefined)).toEqual([APPS[app].databaseVariable]);
  });

  test('has in its volumes the secrets that its settings name, and no others', () => {
    expect(mountsOf(app)).toEqual([{ volume: `${app}-secrets`, target: '/run/tocsin', mode: 'ro' }]);
    const named = Object.entries(service(app).environment).filter(([name]) => name.endsWith('_FILE'));
    expect(readdirSync(path.join(folder, app)).toSorted()).toEqual(
      named.map(([, file = '']) => path.basename(file)).toSorted(),
    );
    for (const [name, file = ''] of named) expect(file).toBe(`/run/tocsin/${name.slice(0, -'_FILE'.length)}`);
  });

  test('runs unprivileged on a read-only file system, after the migrations', () => {
    expect(service(app)).toMatchObject({
      build: { target: app },
      init: true,
      read_only: true,
      cap_drop: ['ALL'],
      depends_on: { migrate: { condition: 'service_completed_successfully' } },
    });
    expect(dockerfile).toContain(`FROM runtime AS ${app}\n`);
  });
});

test("the gateway's internal server can be reached from other containers", async () => {
  const { config } = readSettings(APPS.gateway.readConfig, environmentOf('gateway'));
  const { port } = new URL(service('incident').environment['GATEWAY_INTERNAL_URL'] ?? '');
  expect(config).toMatchObject({ http: { host: '0.0.0.0' }, internal: { host: '0.0.0.0', port: Number(port) } });
});

test('migrations reach every schema', async () => {
  const { config } = readSettings(migrateConfig, settingsOf('migrate'));
  const { targets } = config as { targets: { url: string }[] };
  const owned = APP_NAMES.map((app) => settingsOf(app)[APPS[app].databaseVariable]);
  expect(targets.map(({ url }) => url).sort()).toEqual(owned.sort());
});

describe('secrets', () => {
  const text = (...names: string[]) => readFileSync(path.join(folder, ...names), 'utf8').trim();
  const everything = () =>
    Object.fromEntries(
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => statSync(path.join(folder, file)).isFile())
        .map((file) => [file, text(file)]),
    );

  test('are neither in the file nor in the environment of containers', () => {
    for (const name of Object.keys(services)) {
      const given = Object.entries(service(name).environment ?? {}).filter(
        ([key, value]) =>
          /KEYS|PASS|AUTH|_URL$/.test(key) && !key.endsWith('_FILE') && value !== '' && !value?.startsWith('http://'),
      );
      expect(given).toEqual([]);
    }
  });

  test('the kept ones are mounted only by the job, which has no network', () => {
    const holders = Object.keys(services).filter((name) =>
      mountsOf(name).some(({ volume }) => volume === 'kept-secrets'),
    );
    expect(holders).toEqual(['secrets']);
    expect(service('secrets')).toMatchObject({ network_mode: 'none', cap_drop: ['ALL'], read_only: true });
    for (const { volume, target } of mountsOf('secrets')) {
      expect(volumes).toHaveProperty(volume);
      expect(readdirSync(path.join(folder, path.relative('/secrets', target)))).not.toEqual([]);
      const readers = Object.keys(services).filter((name) => mountsOf(name).some((mount) => mount.volume === volume));
      expect(readers.length).toBeLessThanOrEqual(2);
    }
  });

  test('stay the same at the next start', async () => {
    const before = everything();
    await writeSecrets(folder, service('secrets').environment);
    expect(everything()).toEqual(before);
    const passwords = Object.entries(before).filter(([file]) => file.startsWith('kept/') && file.endsWith('PASSWORD'));
    expect(passwords).toHaveLength(APP_NAMES.length + 3);
    expect(new Set(passwords.map(([, value]) => value)).size).toBe(passwords.length);
  });

  test('have the same passwords for servers and apps', () => {
    const passwordIn = (name: string, setting: string) => new URL(settingsOf(name)[setting] ?? '').password;
    expect(text('postgres', 'password')).toBe(passwordIn('migrate', 'DATABASE_URL'));
    for (const app of [...APP_NAMES, 'admin']) {
      expect(text('rabbitmq', 'tocsin.conf')).toContain(`default_pass = ${passwordIn(app, 'AMQP_URL')}`);
    }
    for (const app of ['incident', 'admin']) {
      expect(text('redis', 'tocsin.conf')).toBe(`requirepass ${passwordIn(app, 'REDIS_URL')}`);
    }
    expect(inFolder('postgres', service('postgres').environment['POSTGRES_PASSWORD_FILE'] ?? '')).toBe(
      path.join(folder, 'postgres/password'),
    );
  });

  test('give each app its own keys and no root key', () => {
    const roots = text('kept', 'TOCSIN_SECRET_KEYS');
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
      expect([name, opens('webhook-secret')]).toEqual([name, name === 'webhook']);
      expect([name, opens('chat-token')]).toEqual([name, name === 'incident' || name === 'admin']);
      expect([name, opens('principal/gateway/incident')]).toEqual([name, name === 'gateway' || name === 'incident']);
      expect([name, opens('principal/incident/catalog')]).toEqual([name, name === 'catalog' || name === 'incident']);
      expect([name, opens('principal/webhook/incident')]).toEqual([name, name === 'webhook' || name === 'incident']);
      expect([name, opens('principal/webhook/catalog')]).toEqual([name, false]);
    }
  });

  test('come from the environment if it sets them; errors name invalid ones', async () => {
    const other = mkdtempSync(path.join(tmpdir(), 'tocsin-compose-'));
    const write = async (env: Environment) => writeSecrets(other, { NODE_ENV: 'production', ...env });
    try {
      const keys = generateSecretKeys();
      await write({ TOCSIN_SECRET_KEYS: keys, POSTGRES_PASSWORD: 'mine_1' });
      expect(readFileSync(path.join(other, 'postgres/password'), 'utf8').trim()).toBe('mine_1');
      expect(readdirSync(path.join(other, 'kept'))).not.toContain('TOCSIN_SECRET_KEYS');
      await expect(write({ POSTGRES_PASSWORD: 'a b@c' })).rejects.toThrow('POSTGRES_PASSWORD: must be');
      await expect(write({ RABBITMQ_PASSWORD: 'development-only' })).rejects.toThrow(
        'RABBITMQ_PASSWORD: is a default that everybody can read',
      );
      await expect(
        write({ TOCSIN_SECRET_KEYS: 'development:dGhpcyBrZXkgaXMgZm9yIGRldmVsb3BtZW50IG9ubHk=' }),
      ).rejects.toThrow('TOCSIN_SECRET_KEYS: is a default that everybody can read');
      await expect(write({ TOCSIN_SECRET_KEYS: 'k1:short' })).rejects.toThrow('TOCSIN_SECRET_KEYS: must be');
    } finally {
      rmSync(other, { recursive: true });
    }
  });
});

test('the image of the jobs contains their code', () => {
  const words = Object.values(services).flatMap(({ command = [], entrypoint = [] }) => [command, entrypoint].flat());
  const commands = [...words, 'infra/migrate/main.ts'].filter((word) => String(word).startsWith('infra/'));
  expect(commands).toHaveLength(3);
  const kept = read('.dockerignore').split('\n');
  for (const command of commands) expect(kept).toContain(`!${path.dirname(String(command))}`);
});

test('images copy the manifest of every package in the lock file', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { link?: boolean }> };
  const own = Object.keys(packages).filter((name) => name !== '' && !name.includes('node_modules/'));
  expect(own).toContain('shared/runtime');
  for (const name of own) expect(dockerfile).toContain(`COPY ${name}/package.json ${name}/\n`);
});
