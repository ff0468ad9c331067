import { databaseSettings, type Knex } from '@tocsin/postgres';
import { readConfig } from '@tocsin/runtime';
import { APP_NAMES, type AppName } from '../../installation/apps.ts';
import { type Check, count, type Finding, ok, problem } from './check.ts';

/** Apps with a connection for notifications besides that of their readiness. */
const LISTENING: readonly AppName[] = ['gateway', 'webhook'];

/**
 * A server by its start, the connections that it has for roles of apps, and the running processes of an app: each has one
 * connection for its readiness, which lives only while somebody asks for that, and its pool.
 */
const QUERY = `
  select pg_postmaster_start_time()::text || ' ' || coalesce(inet_server_port(), 0) as server,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0) as available,
    count(*) filter (where application_name = :health)::int as ready,
    count(*) filter (where application_name = :pool)::int as pooled
  from pg_stat_activity where usename = current_user`;

interface Row {
  server: string;
  available: number;
  ready: number;
  pooled: number;
}

/** Compares the connections that the processes which run now may open with those that the servers have. */
export const POOL_CHECK: Check = {
  name: 'pools',
  run: async ({ database, env }) => {
    const { DATABASE_POOL_SIZE, DATABASE_SESSION_URL } = databaseSettings;
    const { DATABASE_POOL_SIZE: poolSize, ...read } = readConfig({ DATABASE_POOL_SIZE, DATABASE_SESSION_URL }, env);
    if (read.DATABASE_SESSION_URL !== undefined)
      return [ok('DATABASE_SESSION_URL is set, so the pooler decides how many connections the server has')];
    const servers = new Map<string, { available: number; processes: number; needed: number }>();
    for (const app of APP_NAMES) {
      const row = await readConnections(database(app), app);
      const processes = Math.max(1, row.ready, Math.ceil(row.pooled / poolSize));
      const extraConnections = LISTENING.includes(app) ? 2 : 1;
      const server = servers.get(row.server) ?? { available: row.available, processes: 0, needed: 0 };
      server.processes += processes;
      server.needed += processes * (poolSize + extraConnections);
      servers.set(row.server, server);
    }
    return [...servers.values()].map(({ available, processes, needed }): Finding => {
      const text = `${count(processes, 'process', 'processes')} with DATABASE_POOL_SIZE=${poolSize} may open ${needed} connections`;
      if (needed <= available) return ok(`${text}; the server has ${available}`);
      return problem(`${text}, but the server has ${available}: lower it, or raise max_connections`);
    });
  },
};

async function readConnections(database: Knex, app: AppName): Promise<Row> {
  const names = { health: `tocsin-${app}-health`, pool: `tocsin-${app}` };
  const { rows } = await database.raw<{ rows: [Row] }>(QUERY, names);
  return rows[0];
}
