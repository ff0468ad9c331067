import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chown, copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { databaseHosts, openSession } from '@tocsin/postgres';
import {
  BUSY_MACHINE,
  createCertificate,
  errorOf,
  eventually,
  httpClient,
  reservePorts,
  startRabbitMq,
} from '@tocsin/testing';
import { describeWithOwnRabbitMq, describeWithProgram } from '@tocsin/testing/suites';
import { withClient } from '../../installation/databases.ts';
import { clusterOf } from '../../embedded/postgres-installation.ts';
import { localHarness } from '../systems/local-harness.ts';
import { running, runningPostgres } from '../systems/running.ts';

const REDIS = 'redis-server';
/** In these suites `describeWithProgram` skips what is not installed. */
const describeWithOwnServers = (title: string, suite: () => void) =>
  describeWithOwnRabbitMq(title, () => describeWithProgram(REDIS)('with Redis', suite));

describeWithOwnServers('servers that encrypt', () => {
  const harness = running(localHarness);
  const postgres = runningPostgres(harness, { durable: false });
  const files = { cert: '', key: '', other: '' };
  beforeAll(async () => {
    const inFolder = (name: string) => path.join(harness.folder, name);
    Object.assign(files, { cert: inFolder('server.crt'), key: inFolder('server.key'), other: inFolder('other.crt') });
    const { cert, key } = await createCertificate(['localhost']);
    await writeFile(files.cert, cert);
    await writeFile(files.key, key, { mode: 0o600 });
    await writeFile(files.other, (await createCertificate(['localhost'])).cert);

    const cluster = await clusterOf(inFolder('database'));
    const { uid, gid } = await stat(cluster);
    for (const [file, name] of [
      [files.cert, 'server.crt'],
      [files.key, 'server.key'],
    ] as const) {
      await copyFile(file, path.join(cluster, name));
      await chown(path.join(cluster, name), uid, gid);
    }
    await appendFile(path.join(cluster, 'postgresql.conf'), `ssl = on\nssl_ca_file = 'server.crt'\n`);
    const access = path.join(cluster, 'pg_hba.conf');
    const rules = `host postgres all 127.0.0.1/32 scram-sha-256\nhostssl client all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\nhostssl all all 127.0.0.1/32 scram-sha-256\n`;
    await writeFile(access, rules);
    await withClient(postgres.url, async (client) => {
      await client.query('create database client');
      await client.query('select pg_reload_conf()');
    });
    await eventually(async () =>
      withClient(postgres.url, async (client) => {
        const { rows } = await client.query<{ ssl: string }>('show ssl');
        return rows[0]?.ssl === 'on';
      }),
    );
  });

  /** @param parameters of the URL, with the names of files */
  const urlOf = (parameters: string, { host = 'localhost', database = 'template1' } = {}) => {
    const url = new URL(postgres.url);
    url.hostname = host;
    url.pathname = `/${database}`;
    return `${url.href}?${parameters.replaceAll(/[(](\w+)[)]/g, (_, name: keyof typeof files) => encodeURIComponent(files[name]))}`;
  };
  const isEncrypted = async (url: string) => {
    const client = await openSession(databaseHosts(url));
    const { rows } = await client.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    await client.end();
    return rows[0]?.ssl;
  };

  test.each([
    ['sslmode=require', {}],
    ['sslmode=require&sslrootcert=(cert)', { host: '127.0.0.1' }],
    // The name of the server does not matter.
    ['sslmode=verify-ca&sslrootcert=(cert)', { host: '127.0.0.1' }],
    ['sslmode=verify-full&sslrootcert=(cert)', {}],
    ['sslmode=verify-full&sslrootcert=(cert)&sslcert=(cert)&sslkey=(key)', { database: 'client' }],
  ])('PostgreSQL by %s', async (parameters, place) => {
    expect(await isEncrypted(urlOf(parameters, place))).toBe(true);
  });

  test.each([
    ['sslmode=disable', {}, /no pg_hba.conf entry|no encryption/],
    ['sslmode=require&sslrootcert=(other)', {}, /self-signed|certificate/],
    ['sslmode=verify-ca&sslrootcert=(other)', {}, /self-signed|certificate/],
    ['sslmode=verify-full', {}, /self-signed certificate/],
    ['sslmode=verify-full&sslrootcert=(other)', {}, /self-signed|certificate/],
    ['sslmode=verify-full&sslrootcert=(cert)', { host: '127.0.0.1' }, /IP: 127.0.0.1 is not in the cert's list/],
    ['sslmode=verify-full&sslrootcert=(cert)', { database: 'client' }, /certificate/],
  ])('PostgreSQL refuses or is refused by %s', async (parameters, place, message) => {
    expect(await errorOf(isEncrypted(urlOf(parameters, place)))).toMatchObject({
      message: expect.stringMatching(message),
    });
  });

  test('the services work with PostgreSQL, RabbitMQ and Redis over TLS, as the guide says', async () => {
    const rabbitMq = await startRabbitMq({ tls: files });
    const [port = 0] = await reservePorts(1);
    const tlsOfRedis = ['--tls-cert-file', files.cert, '--tls-key-file', files.key, '--tls-ca-cert-file', files.cert];
    const options = ['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no', '--save', ''];
    const redis = spawn(REDIS, [...options, ...tlsOfRedis, '--bind', '127.0.0.1', '--dir', harness.folder], {
      stdio: 'ignore',
    });
    const log = path.join(harness.folder, 'output.log');
    const services = harness.start(
      {
        ...BUSY_MACHINE,
        DATABASE_URL: urlOf('sslmode=verify-full&sslrootcert=(cert)', { database: 'tocsin' }),
        AMQP_URL: rabbitMq.url,
        REDIS_URL: `rediss://localhost:${port}`,
        NODE_EXTRA_CA_CERTS: files.cert,
      },
      log,
    );
    try {
      const url = await services.ready();
      const token = await harness.workspace('acme');
      const client = httpClient(url, { Host: 'acme.localhost', Authorization: `Bearer ${token}` });
      expect((await client.post('/api/v1/incidents', { title: 'Encrypted' })).status).toBe(201);
      await eventually(async () => (await client.get('/api/v1/events?from=beginning')).body.events.length > 0);
      const sessions = await withClient(postgres.url, async (administrator) => {
        const statement = `select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where datname = 'tocsin'`;
        return (await administrator.query<{ ssl: boolean }>(statement)).rows;
      });
      expect(sessions).toEqual([{ ssl: true }]);
      expect(await readFile(log, 'utf8')).not.toContain('redis is down');
    } finally {
      services.signal('SIGTERM');
      await services.ended();
      const ended = once(redis, 'exit');
      redis.kill();
      await ended;
      await rabbitMq.remove();
    }
  });
});
