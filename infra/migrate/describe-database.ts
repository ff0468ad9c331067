import { connectionOf } from '@tocsin/postgres';
import pg from 'pg';

/** Describes the database of a URL without user and password: `database tocsin on 127.0.0.1:5432`. */
export function describeDatabase(url: string): string {
  // The driver applies the parameters of the URL and the environment (PGHOST and others).
  const { host, port, database, user } = new pg.Client(connectionOf(url));
  const name = database ?? user ?? '';
  const server = host === 'localhost' ? '127.0.0.1' : host;
  // In a malformed URL, a part of the password can end up here.
  const displayName = name.includes('@') ? '(unreadable)' : name;
  return `database ${displayName} on ${server.includes(':') ? `[${server}]` : server}:${port}`;
}
