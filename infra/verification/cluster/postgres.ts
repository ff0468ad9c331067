import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually, httpClient } from '@tocsin/testing';
import { findPostgres } from './packages.ts';
import type { Group } from './group.ts';
import type { Machine } from './network.ts';

const run = promisify(execFile);

/** Seconds. The leader must show within `ttl` that it lives; Patroni demands at least 20, and `loop_wait + 2 * retry_timeout`. */
const PATRONI = { ttl: 20, loop_wait: 5, retry_timeout: 5 };

/** Milliseconds, in which a former primary is rewound or copied. */
const REJOINED_WITHIN = 300_000;

const PARAMETERS = {
  max_connections: 150,
  shared_buffers: '32MB',
  wal_log_hints: 'on',
  wal_sender_timeout: '5s',
  wal_receiver_timeout: '5s',
};

/**
 * Which API of etcd Patroni uses. With version 3 of it, a Patroni before 3.0.3 that was frozen takes the lock from its
 * successor, and what that has answered is lost (https://github.com/patroni/patroni/pull/2689).
 */
async function etcdApi(): Promise<'etcd' | 'etcd3'> {
  const { stdout } = await run('patroni', ['--version']);
  return stdout.trim().localeCompare('patroni 3.0.3', undefined, { numeric: true }) < 0 ? 'etcd' : 'etcd3';
}

/** Each of three machines has a member of etcd and a PostgreSQL under Patroni; one standby has each commit. */
export async function startPostgresCluster(machines: readonly Machine[], subnet: string): Promise<Group> {
  const bin = findPostgres() ?? '';
  const api = await etcdApi();
  const etcdMembers = machines.map(({ name, address }) => `${name}=http://${address}:2380`).join(',');
  const etcd = ({ name, address, folder }: Machine) => ({
    command: 'etcd',
    args: [
      ...[`--name=${name}`, `--data-dir=${path.join(folder, 'etcd')}`, `--initial-cluster=${etcdMembers}`],
      ...[`--listen-peer-urls=http://${address}:2380`, `--initial-advertise-peer-urls=http://${address}:2380`],
      ...[`--listen-client-urls=http://${address}:2379`, `--advertise-client-urls=http://${address}:2379`],
      // More than the default, for a machine that runs everything.
      ...['--heartbeat-interval=250', '--election-timeout=2500'],
      // A member that was cut off does not disturb the others when it is back.
      ...['--pre-vote', ...(api === 'etcd' ? ['--enable-v2'] : [])],
    ],
  });
  const settingsOf = ({ name, address, folder }: Machine) => ({
    ...{ scope: 'tocsin', name, restapi: { listen: `${address}:8008`, connect_address: `${address}:8008` } },
    [api]: { hosts: machines.map((each) => `${each.address}:2379`) },
    bootstrap: {
      dcs: {
        ...PATRONI,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, parameters: PARAMETERS },
      },
      initdb: ['data-checksums', { encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
    },
    postgresql: {
      ...{ listen: `${address}:5432`, connect_address: `${address}:5432`, bin_dir: bin },
      data_dir: path.join(folder, 'data'),
      pgpass: path.join(folder, 'pgpass'),
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'replicator' } },
      pg_hba: ['local all all trust', `host all all ${subnet} trust`, `host replication all ${subnet} trust`],
      parameters: { unix_socket_directories: folder },
      remove_data_directory_on_diverged_timelines: true,
    },
  });
  for (const machine of machines) {
    // YAML has all of JSON.
    const file = `${machine.folder}.yaml`;
    await writeFile(file, JSON.stringify(settingsOf(machine), undefined, 2));
    await machine.boot([etcd(machine), { command: 'patroni', args: [file] }]);
  }

  interface Member {
    name: string;
    role: string;
    state: string;
  }
  const members = async (except?: Machine): Promise<Member[]> => {
    const answers = machines
      .filter((machine) => machine !== except)
      .map(async ({ address }) => httpClient(`http://${address}:8008`).get('/cluster'));
    return ((await Promise.any(answers)).body as { members: Member[] }).members;
  };
  const withRole = (role: string) => async (except?: Machine) => {
    const named = (await members(except)).find((member) => member.role === role)?.name;
    return machines.find(({ name }) => name === named);
  };
  return {
    name: 'PostgreSQL',
    machines,
    url: `postgres://postgres@${machines.map(({ address }) => `${address}:5432`).join(',')}/tocsin?target_session_attrs=read-write`,
    roles: { primary: withRole('leader'), 'synchronous standby': withRole('sync_standby') },
    whole: async () => {
      await eventually(
        async () => {
          const all = await members();
          const isThere = (role: string) => all.some((member) => member.role === role);
          const work = all.filter(({ state }) => ['running', 'streaming'].includes(state));
          return work.length === machines.length && isThere('leader') && isThere('sync_standby');
        },
        { what: 'a PostgreSQL with a standby that has each commit, and another one', within: REJOINED_WITHIN },
      );
    },
  };
}
