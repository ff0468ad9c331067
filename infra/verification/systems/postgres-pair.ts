import { execFile } from 'node:child_process';
import { appendFile, chown, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually, reservePorts } from '@tocsin/testing';
import { startPostgres } from '../../embedded/postgres.ts';
import { prepareInstallation } from '../../embedded/postgres-installation.ts';
import { launchPostgres } from '../../embedded/postgres-process.ts';
import { withClient } from '../../installation/databases.ts';

const run = promisify(execFile);

/** A PostgreSQL, and a standby that has each commit before it is answered. */
export interface PostgresPair {
  /** The URL of both, as the superuser, to a database; the standby first. */
  url(database: string): string;
  /** The URL of the primary alone. */
  readonly primaryUrl: string;
  /** Lets no commit reach the standby until the function that it returns is called. */
  holdStandby(): Promise<() => void>;
  /** Kills the primary, and makes the standby one. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

const PASSWORD = 'test';

/** @param folder which the user of PostgreSQL can enter */
export async function startPostgresPair(folder: string): Promise<PostgresPair> {
  const inFolder = (name: string) => path.join(folder, name);
  const shared = { password: PASSWORD, logFile: inFolder('postgres.log'), maxConnections: 100, durable: true };
  const first = await startPostgres({ ...shared, folder: inFolder('primary') });
  await first.stop();
  const installations = {
    primary: await prepareInstallation(inFolder('primary')),
    standby: await prepareInstallation(inFolder('standby')),
  };
  const [primaryPort = 0, standbyPort = 0] = await reservePorts(2);
  await run('cp', ['-a', installations.primary.cluster, installations.standby.cluster]);
  const { uid, gid } = await stat(installations.primary.cluster);
  const signal = path.join(installations.standby.cluster, 'standby.signal');
  await writeFile(signal, '');
  await chown(signal, uid, gid);
  const connection = `host=127.0.0.1 port=${primaryPort} user=postgres password=${PASSWORD}`;
  await appendFile(
    path.join(installations.standby.cluster, 'postgresql.auto.conf'),
    `primary_conninfo = '${connection}'\n`,
  );
  const primary = await launchPostgres({ ...shared, installation: installations.primary, port: primaryPort });
  const standby = await launchPostgres({ ...shared, installation: installations.standby, port: standbyPort });
  const urlOf = (hosts: string, database: string) => `postgres://postgres:${PASSWORD}@${hosts}/${database}`;
  const primaryUrl = urlOf(`127.0.0.1:${primaryPort}`, 'postgres');
  await withClient(primaryUrl, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '*'`);
    await client.query('select pg_reload_conf()');
    await eventually(async () => {
      const { rows } = await client.query(`select 1 from pg_stat_replication where sync_state = 'sync'`);
      return rows.length === 1;
    });
  });
  return {
    url: (database) => urlOf(`127.0.0.1:${standbyPort},127.0.0.1:${primaryPort}`, database),
    primaryUrl,
    holdStandby: async () =>
      withClient(primaryUrl, async (client) => {
        const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_replication');
        const signal = (name: NodeJS.Signals) => rows.forEach(({ pid }) => process.kill(pid, name));
        signal('SIGSTOP');
        return () => signal('SIGCONT');
      }),
    failOver: async () => {
      const [pid = ''] = (await readFile(path.join(installations.primary.cluster, 'postmaster.pid'), 'utf8')).split(
        '\n',
      );
      process.kill(Number(pid), 'SIGKILL');
      await primary.exited;
      await withClient(urlOf(`127.0.0.1:${standbyPort}`, 'postgres'), async (client) =>
        client.query('select pg_promote()'),
      );
    },
    stop: async () => {
      await Promise.all([primary.stop(), standby.stop()]);
    },
  };
}
