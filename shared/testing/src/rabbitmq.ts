import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from './eventually.ts';

/** A RabbitMQ of a test's own, to be killed and started again; what it confirmed is there after that. */
export interface OwnRabbitMq {
  /** The same through all its lives. */
  readonly url: string;
  /** Comes back when it accepts connections. */
  start(): Promise<void>;
  /** As a power failure would. */
  kill(): Promise<void>;
  /** Kills it for good and removes its files. */
  remove(): Promise<void>;
}

/** Debian's command on the path wants to be run by root or its own user; the script behind it does not. */
const BEHIND_THE_WRAPPER = '/usr/lib/rabbitmq/bin/rabbitmq-server';

/** The script that starts a server, where RabbitMQ is installed. */
export function findRabbitMq(): string | undefined {
  const onPath = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'rabbitmq-server'));
  return [BEHIND_THE_WRAPPER, ...onPath].find((file) => existsSync(file));
}

/** Starts a server of its own: own ports, name, files and name service; it ends with this process at the latest. */
export async function startRabbitMq(): Promise<OwnRabbitMq> {
  const script = findRabbitMq();
  if (script === undefined) throw new Error('RabbitMQ is not installed');
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-rabbitmq-'));
  const [port, distributionPort, namesPort] = await freePorts();
  await writeFile(
    path.join(folder, 'rabbitmq.conf'),
    `listeners.tcp.local = 127.0.0.1:${port}\ndisk_free_limit.absolute = 10MB\nvm_memory_high_watermark.relative = 0.6\n`,
  );
  await writeFile(path.join(folder, 'enabled_plugins'), '[].\n');
  await writeFile(path.join(folder, 'rabbitmq-env.conf'), '');
  const env = {
    PATH: process.env['PATH'],
    LANG: 'C.UTF-8',
    HOME: folder,
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: String(namesPort),
    RABBITMQ_NODENAME: `tocsin-${randomBytes(4).toString('hex')}@localhost`,
    RABBITMQ_DIST_PORT: String(distributionPort),
    RABBITMQ_CONFIG_FILE: path.join(folder, 'rabbitmq.conf'),
    RABBITMQ_CONF_ENV_FILE: path.join(folder, 'rabbitmq-env.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: path.join(folder, 'enabled_plugins'),
    RABBITMQ_MNESIA_BASE: path.join(folder, 'data'),
    RABBITMQ_LOG_BASE: folder,
    RABBITMQ_LOGS: '-',
    // One scheduler: it shares a small machine with the tests.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1',
  };
  const logFile = path.join(folder, 'server.log');
  let shell: ChildProcess | undefined;

  const kill = async () => {
    if (shell?.pid === undefined) return;
    const gone = Promise.withResolvers<void>();
    if (shell.exitCode === null && shell.signalCode === null) shell.once('exit', () => gone.resolve());
    else gone.resolve();
    try {
      process.kill(-shell.pid, 'SIGKILL');
    } catch {
      // The whole group is gone already.
    }
    await gone.promise;
    shell = undefined;
    await eventually(async () => !(await accepts(port)), { what: 'the end of RabbitMQ' });
  };

  const start = async () => {
    const log = await open(logFile, 'a');
    // One process group for all of it. The shell's input closes with us, however we end, and takes the group along.
    const started = spawn('sh', ['-c', `epmd & "$1" & read -r line; kill -9 0`, 'sh', script], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['pipe', log.fd, log.fd],
    });
    shell = started;
    await log.close();
    await eventually(
      async () => {
        if (started.exitCode !== null) throw new Error('the server ended at once');
        return accepts(port);
      },
      { within: 60_000, what: 'a RabbitMQ that accepts connections' },
    ).catch(async (error: unknown) => {
      await kill();
      throw new Error((await readFile(logFile, 'utf8')).slice(-2_000), { cause: error });
    });
  };

  await start();
  return {
    url: `amqp://guest:guest@127.0.0.1:${port}`,
    start,
    kill,
    remove: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePorts(): Promise<[number, number, number]> {
  const servers = await Promise.all([1, 2, 3].map(async () => listening()));
  const ports = servers.map((server) => (server.address() as net.AddressInfo).port) as [number, number, number];
  await Promise.all(servers.map(async (server) => closed(server)));
  return ports;
}

async function listening(): Promise<net.Server> {
  const { promise, resolve, reject } = Promise.withResolvers<net.Server>();
  const server = net.createServer();
  server.once('error', reject);
  server.listen({ host: '127.0.0.1', port: 0 }, () => resolve(server));
  return promise;
}

async function closed(server: net.Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  return promise;
}

async function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = net.connect({ host: '127.0.0.1', port });
  socket.once('connect', () => resolve(true));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
