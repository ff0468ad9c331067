import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SERVER_VARIABLES } from '@tocsin/testing';
import { startPostgres } from '../embedded/postgres.ts';
import { hasContainerEngine, type ServerName, startContainer } from './containers.ts';
import { isUsablePostgres, isUsableRabbitMq, isUsableRedis } from './probes.ts';

const LOCAL = {
  databaseUrl: { url: 'postgres://postgres@127.0.0.1:5432/postgres', isUsable: isUsablePostgres },
  amqpUrl: { url: 'amqp://guest:guest@127.0.0.1:5672', isUsable: isUsableRabbitMq },
  redisUrl: { url: 'redis://127.0.0.1:6379', isUsable: isUsableRedis },
} as const;

const NAMES = Object.keys(LOCAL) as ServerName[];

/** What ends what was started here, in the order of starting. */
const endings: (() => Promise<void>)[] = [];
/** Every project of a run comes by; the first finds the servers for all, the last ends what was started. */
let projects = 0;

/**
 * Finds the real servers and tells the test processes of them, through the environment that they inherit: first those that
 * the environment names, then this machine's own, then containers, and at last a PostgreSQL from an npm package, which
 * every machine has. `TOCSIN_TEST_SERVERS=none` makes do with that last one.
 */
export async function findServers(): Promise<void> {
  projects += 1;
  if (projects > 1) return;
  process.env[SERVER_VARIABLES.runId] = Date.now().toString(36);
  const found = process.env['TOCSIN_TEST_SERVERS'] === 'none' ? forgetServers(NAMES) : await findAround();
  if (!found.has('databaseUrl')) tell('databaseUrl', await startOwnPostgres());
}

/** Ends what was started, once every project is done with it. */
export async function releaseServers(): Promise<void> {
  projects -= 1;
  if (projects > 0) return;
  for (const end of endings.splice(0).reverse()) await end();
}

async function findAround(): Promise<Set<ServerName>> {
  const found = new Set(NAMES.filter((name) => (process.env[SERVER_VARIABLES[name]] ?? '') !== ''));
  forgetServers(NAMES.filter((name) => !found.has(name)));
  const use = async (name: ServerName, url: string | undefined) => {
    if (url === undefined) return;
    tell(name, url);
    found.add(name);
  };
  const missing = () => NAMES.filter((name) => !found.has(name));
  await Promise.all(
    missing().map(async (name) =>
      use(name, (await LOCAL[name].isUsable(LOCAL[name].url)) ? LOCAL[name].url : undefined),
    ),
  );
  if (missing().length > 0 && (await hasContainerEngine())) {
    await Promise.all(
      missing().map(async (name) => {
        const server = await startContainer(name);
        if (server !== undefined) endings.push(server.stop);
        await use(name, server?.url);
      }),
    );
  }
  return found;
}

function forgetServers(names: readonly ServerName[]): Set<ServerName> {
  for (const name of names) Reflect.deleteProperty(process.env, SERVER_VARIABLES[name]);
  return new Set();
}

function tell(name: ServerName, url: string): void {
  process.env[SERVER_VARIABLES[name]] = url;
}

async function startOwnPostgres(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-test-'));
  // As root, the server runs as somebody else, who has to get through.
  await chmod(folder, 0o711);
  endings.push(async () => rm(folder, { recursive: true, force: true }));
  const postgres = await startPostgres({
    folder: path.join(folder, 'postgres'),
    password: 'tocsin',
    logFile: path.join(folder, 'postgres.log'),
    maxConnections: 300,
    durable: false,
  });
  endings.push(postgres.stop);
  return postgres.url;
}
