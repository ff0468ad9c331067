import { connectionOf } from '@tocsin/postgres';
import { urlsOfHosts } from '@tocsin/runtime';
import pg from 'pg';

/** Describes the database of a URL without user and password: `database tocsin on 127.0.0.1:5432`. */
export function describeDatabase(url: string): string {
  // The driver applies the parameters of the URL and the environment (PGHOST and others).
  const clients = urlsOfHosts(url).map((each) => new pg.Client(connectionOf(each)));
  const [{ database, user } = {}] = clients;
  const name = database ?? user ?? '';
  // In a malformed URL, a part of the password can end up here.
  const displayName = name.includes('@') ? '(unreadable)' : name;
  return `database ${displayName} on ${clients.map(serverOf).join(', ')}`;
}

function serverOf({ host, port }: pg.Client): string {
  const server = host === 'localhost' ? '127.0.0.1' : host;
  return `${server.includes(':') ? `[${server}]` : server}:${port}`;
}
