import { Hosts, urlsOfHosts } from '@tocsin/runtime';
import type pg from 'pg';
import { connectionOf, mustTakeWrites } from './connection-url.ts';
import { UnusableSession } from './database-call-error.ts';
import type { HostConfig } from './session-settings.ts';

export type DatabaseHosts = Hosts<HostConfig>;

/** The hosts of a database, of which one takes writes. */
export function databaseHosts(url: string, options: pg.ClientConfig = {}): DatabaseHosts {
  const configs = urlsOfHosts(url).map((each) => ({
    ...{ ...options, ...connectionOf(each) },
    mustTakeWrites: mustTakeWrites(url),
  }));
  return new Hosts(configs, { isFinal: (error) => error instanceof UnusableSession });
}
