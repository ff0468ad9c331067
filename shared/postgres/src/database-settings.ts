import { changeUrl, setting } from '@tocsin/runtime';
import { connectionProblem } from './connection-url.ts';
import { DATABASE_DEADLINES } from './database-deadlines.ts';

const postgres = setting.urlOfHosts(['postgres:', 'postgresql:']).superRefine((url, context) => {
  const message = connectionProblem(url);
  if (message?.startsWith('must ') === true) context.addIssue({ code: 'custom', message });
});

/** `<SERVICE>_DATABASE_URL` has priority; without it a service uses its own role (`roleOf`) on the server of `DATABASE_URL`. */
export const databaseSettings = {
  DATABASE_URL: postgres.default('postgres://postgres@127.0.0.1:5432/tocsin'),
  /**
   * Its hosts and database for what needs a session of its own: the migrations. With it, the other URLs may be those of
   * poolers in transaction mode.
   */
  DATABASE_SESSION_URL: postgres.optional(),
  /**
   * At least a connection for a request, another one that it needs meanwhile, and one for background work. By default two
   * processes of each app fit into the 97 connections that PostgreSQL has for them by default.
   */
  DATABASE_POOL_SIZE: setting.integer({ min: 3, max: 500 }).default(7),
  /** Statement time of a request that only reads; operations have ten seconds in all. */
  DATABASE_READ_TIMEOUT_MS: setting.integer({ min: 500, max: 8_000 }).default(DATABASE_DEADLINES.read),
};

/** The options of a pool that follow from `databaseSettings`. */
export const poolOptions = (read: {
  DATABASE_SESSION_URL?: string | undefined;
  DATABASE_POOL_SIZE: number;
  DATABASE_READ_TIMEOUT_MS: number;
}) => ({
  sharesSessions: read.DATABASE_SESSION_URL !== undefined,
  poolSize: read.DATABASE_POOL_SIZE,
  deadlines: { read: read.DATABASE_READ_TIMEOUT_MS },
});

export const ownDatabaseUrl = postgres.optional();

/** The URL of the same database with another role. */
export const urlForRole = (databaseUrl: string, role: string): string =>
  changeUrl(databaseUrl, (parsed) => (parsed.username = role));

/** The role that owns a schema of the installation with this namespace (`TOCSIN_NAMESPACE`): roles belong to a server. */
export const roleOf = (namespace: string, schema: string): string => `${namespace}_${schema}`;
