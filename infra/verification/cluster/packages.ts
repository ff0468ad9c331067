import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { findRabbitMq, isInstalled } from '@tocsin/testing';

/** The folder with the programs of the newest PostgreSQL that Debian has installed. */
export const findPostgres = (): string | undefined =>
  globSync('/usr/lib/postgresql/*/bin/pg_rewind')
    .map((file) => file.replace(/\/pg_rewind$/, ''))
    .toSorted((a, b) => a.localeCompare(b, undefined, { numeric: true }))
    .at(-1);

/** Debian's packages that the cluster needs and this machine lacks. */
export function missingPackages(): string[] {
  const present = {
    postgresql: findPostgres() !== undefined,
    patroni: isInstalled('patroni'),
    'etcd-server': isInstalled('etcd'),
    'rabbitmq-server': findRabbitMq() !== undefined,
    'redis-sentinel': isInstalled('redis-sentinel'),
    'redis-server': isInstalled('redis-server'),
    iproute2: isInstalled('ip'),
  };
  return Object.entries(present).flatMap(([name, isThere]) => (isThere ? [] : [name]));
}

/** Whether this process may make network namespaces: as root, and not in every container. */
export const mayMakeNetworks = (): boolean =>
  spawnSync('unshare', ['--net', 'ip', 'link', 'add', 'x', 'type', 'bridge']).status === 0;
