import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SERVER_VARIABLES } from '@tocsin/testing';
import { withClient } from '../../installation/databases.ts';
import { startPostgres } from '../../embedded/postgres.ts';
import { hasContainerEngine, type ServerName, startContainer } from './containers.ts';
import { isUsablePostgres, isUsableRabbitMq, isUsableRedis } from './probes.ts';

const LOCAL = {
  databaseUrl: { url: 'postgres://postgres@127.0.0.1:5432/postgres', isUsable: isUsablePostgres },
  amqpUrl: { url: 'amqp://guest:guest@127.0.0.1:5672', isUsable: isUsableRabbitMq },
  redisUrl: { url: 'redis://127.0.0.1:6379', isUsable: isUsableRedis },
} as const;

const NAMES = Object.keys(LOCAL) as ServerName[];

/** Database connections that a run opens at most, unless it says another number: fewer than a new PostgreSQL allows. */
const CONNECTIONS = 90;
/** The same, for whole systems beside each other. */
export const CONNECTIONS_OF_SYSTEMS = 300;

/** Stops what was started here, in the order of starting. */
const cleanups: (() => Promise<void>)[] = [];
/** Running projects of the test run: the first one finds the servers, the last one stops what was started. */
let projects = 0;

/**
 * Finds servers and passes their URLs to the test processes through the environment: first the servers that the
 * environment names, then those of this machine, then containers, and finally a PostgreSQL from an npm package, which
 * runs everywhere. `TOCSIN_TEST_SERVERS=none` uses only that PostgreSQL. A PostgreSQL of this machine is used if it
 * allows this number of connections.
 */
export async function findServers(connections = CONNECTIONS): Promise<void> {
  projects += 1;
  if (projects > 1) return;
  process.env[SERVER_VARIABLES.runId] = Date.now().toString(36);
  const names =
    process.env['TOCSIN_TEST_SERVERS'] === 'none' ? clearServers(NAMES) : await findAvailableServers(connections);
  if (!names.has('databaseUrl')) setServer('databaseUrl', await startOwnPostgres());
}

/** Stops what was started, after the last project. */
export async function releaseServers(): Promise<void> {
  projects -= 1;
  if (projects > 0) return;
  for (const end of cleanups.splice(0).reverse()) await end();
}

/** Runs `work` with servers, as `findServers` finds them. */
export async function withServers<Result>(work: () => Promise<Result>): Promise<Result> {
  await findServers();
  try {
    return await work();
  } finally {
    await releaseServers();
  }
}

async function findAvailableServers(connections: number): Promise<Set<ServerName>> {
  const names = new Set(NAMES.filter((name) => (process.env[SERVER_VARIABLES[name]] ?? '') !== ''));
  clearServers(NAMES.filter((name) => !names.has(name)));
  const use = async (name: ServerName, url: string | undefined) => {
    if (url === undefined) return;
    setServer(name, url);
    names.add(name);
  };
  const missing = () => NAMES.filter((name) => !names.has(name));
  await Promise.all(
    missing().map(async (name) =>
      use(name, (await LOCAL[name].isUsable(LOCAL[name].url, connections)) ? LOCAL[name].url : undefined),
    ),
  );
  if (missing().length > 0 && (await hasContainerEngine())) {
    await Promise.all(
      missing().map(async (name) => {
        const server = await startContainer(name);
        if (server !== undefined) cleanups.push(server.stop);
        await use(name, server?.url);
      }),
    );
  }
  return names;
}

function clearServers(names: readonly ServerName[]): Set<ServerName> {
  for (const name of names) Reflect.deleteProperty(process.env, SERVER_VARIABLES[name]);
  return new Set();
}

function setServer(name: ServerName, url: string): void {
  process.env[SERVER_VARIABLES[name]] = url;
}

async function startOwnPostgres(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-test-'));
  // As root, the server runs as another user, who must be able to enter the folder.
  await chmod(folder, 0o711);
  cleanups.push(async () => rm(folder, { recursive: true, force: true }));
  const postgres = await startPostgres({
    folder: path.join(folder, 'postgres'),
    password: 'tocsin',
    logFile: path.join(folder, 'postgres.log'),
    maxConnections: CONNECTIONS_OF_SYSTEMS,
    durable: false,
  });
  cleanups.push(postgres.stop);
  return withoutPasswords(postgres.url);
}

/** Systems beside each other share roles, which must not get several passwords. */
async function withoutPasswords(url: string): Promise<string> {
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ file: string }>("select current_setting('hba_file') as file");
    await writeFile(rows[0]?.file ?? '', 'host all all 127.0.0.1/32 trust\n');
    await client.query('select pg_reload_conf()');
  });
  return Object.assign(new URL(url), { password: '' }).href;
}
