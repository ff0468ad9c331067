import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually } from './eventually.ts';
import { reservePorts } from './reserve-ports.ts';

/** A RabbitMQ server of its own for a test, which can be killed and restarted. Confirmed messages survive. */
export interface OwnRabbitMq {
  /** Stays the same across restarts. */
  readonly url: string;
  /** Resolves once the server accepts connections. */
  start(): Promise<void>;
  /** Kills it with SIGKILL, like a power failure. */
  kill(): Promise<void>;
  /** Runs `rabbitmqctl`. @returns its output */
  control(...args: string[]): Promise<string>;
  /** Kills it and deletes its files. */
  remove(): Promise<void>;
}

const run = promisify(execFile);

/** The command in Debian's PATH runs as root or as user rabbitmq only; this script has no such limit. */
const SERVER_SCRIPT = '/usr/lib/rabbitmq/bin/rabbitmq-server';

/** The path of the script that starts a server, if RabbitMQ is installed. */
export function findRabbitMq(): string | undefined {
  const onPath = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'rabbitmq-server'));
  return [SERVER_SCRIPT, ...onPath].find((file) => existsSync(file));
}

interface RabbitMqOptions {
  /** Milliseconds until unacknowledged messages are requeued. */
  consumerTimeout?: number;
  /** The files of its certificate for `localhost`: it then accepts encrypted connections only. */
  tls?: { cert: string; key: string };
}

/** Starts a server with its own ports, name, files and epmd. It ends with this process at the latest. */
export async function startRabbitMq(options: RabbitMqOptions = {}): Promise<OwnRabbitMq> {
  const script = findRabbitMq();
  if (script === undefined) throw new Error('RabbitMQ is not installed');
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-rabbitmq-'));
  const [port = 0, distribution = 0, names = 0] = await reservePorts(3);
  await writeFile(path.join(folder, 'rabbitmq.conf'), configurationOf(port, options));
  await writeFile(path.join(folder, 'enabled_plugins'), '[].\n');
  await writeFile(path.join(folder, 'rabbitmq-env.conf'), await linkLibraries(script, folder));
  const env = environmentOf(folder, { distribution, names }, options);
  const logFile = path.join(folder, 'server.log');
  let shell: ChildProcess | undefined;

  const kill = async () => {
    if (shell?.pid === undefined) return;
    const gone = Promise.withResolvers<void>();
    if (hasEnded(shell)) gone.resolve();
    else shell.once('exit', () => gone.resolve());
    try {
      process.kill(-shell.pid, 'SIGKILL');
    } catch {
      // The process group has already ended.
    }
    await gone.promise;
    shell = undefined;
    await eventually(async () => !(await accepts(port)), { what: 'the end of RabbitMQ' });
  };

  const start = async () => {
    const log = await open(logFile, 'a');
    // One process group. When this process ends, the shell's input closes, and the shell kills the group; so does the end
    // of the server.
    const started = spawn('sh', ['-c', `epmd & ("$1"; kill -9 0) & read -r line; kill -9 0`, 'sh', script], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['pipe', log.fd, log.fd],
    });
    shell = started;
    await log.close();
    try {
      const isSettled = async () => hasEnded(started) || accepts(port);
      await eventually(isSettled, { what: 'a RabbitMQ that accepts connections' });
      if (hasEnded(started)) throw new Error('the server ended during its start');
    } catch (error) {
      await kill();
      throw new Error((await readFile(logFile, 'utf8')).slice(-2_000), { cause: error });
    }
  };

  await start();
  return {
    url: options.tls === undefined ? `amqp://guest:guest@127.0.0.1:${port}` : `amqps://guest:guest@localhost:${port}`,
    start,
    kill,
    control: async (...args) => {
      const command = path.join(path.dirname(script), 'rabbitmqctl');
      const { stdout } = await run(command, ['--quiet', '--node', env.RABBITMQ_NODENAME, ...args], {
        env,
        cwd: folder,
      });
      return stdout;
    },
    remove: async () => {
      await kill();
      // What ends with the server may still write.
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/**
 * Links what the server itself needs of its plugins. It looks for each of a thousand modules in the folders of all plugins,
 * also of those that are off: without these it starts in half the time. Returns the settings for it.
 */
async function linkLibraries(script: string, folder: string): Promise<string> {
  const plugins = path.join(path.dirname(await realpath(script)), '../plugins');
  // Not every distribution has them beside the script.
  const folders = new Map((await readdir(plugins).catch(() => [])).map((name) => [name.replace(/-[\d.]+$/, ''), name]));
  const needed = new Set(folders.has('rabbit') ? ['rabbit'] : []);
  for (const name of needed) {
    const description = path.join(plugins, folders.get(name) ?? '', 'ebin', `${name}.app`);
    const [, names = ''] = /\{applications,\s*\[([^\]]*)\]/.exec(await readFile(description, 'utf8')) ?? [];
    for (const each of names.split(/[\s,]+/)) if (folders.has(each)) needed.add(each);
  }
  if (needed.size === 0) return '';
  await mkdir(path.join(folder, 'plugins'));
  for (const name of [...needed].map((each) => folders.get(each) ?? ''))
    await symlink(path.join(plugins, name), path.join(folder, 'plugins', name));
  return `RABBITMQ_HOME=${folder}\nPLUGINS_DIR=${folder}/plugins\n`;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

async function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = net.connect({ host: '127.0.0.1', port });
  socket.once('connect', () => resolve(true));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

const configurationOf = (port: number, { tls }: RabbitMqOptions): string =>
  [
    ...(tls === undefined
      ? [`listeners.tcp.local = 127.0.0.1:${port}`]
      : [
          'listeners.tcp = none',
          `listeners.ssl.local = 127.0.0.1:${port}`,
          `ssl_options.cacertfile = ${tls.cert}`,
          `ssl_options.certfile = ${tls.cert}`,
          `ssl_options.keyfile = ${tls.key}`,
        ]),
    'disk_free_limit.absolute = 10MB',
    'vm_memory_high_watermark.relative = 0.6',
    '',
  ].join('\n');

const environmentOf = (
  folder: string,
  ports: { distribution: number; names: number },
  { consumerTimeout }: RabbitMqOptions,
) => ({
  PATH: process.env['PATH'],
  LANG: 'C.UTF-8',
  HOME: folder,
  ERL_EPMD_ADDRESS: '127.0.0.1',
  ERL_EPMD_PORT: String(ports.names),
  RABBITMQ_NODENAME: `tocsin-${randomBytes(4).toString('hex')}@localhost`,
  RABBITMQ_DIST_PORT: String(ports.distribution),
  RABBITMQ_CONFIG_FILE: path.join(folder, 'rabbitmq.conf'),
  RABBITMQ_CONF_ENV_FILE: path.join(folder, 'rabbitmq-env.conf'),
  RABBITMQ_ENABLED_PLUGINS_FILE: path.join(folder, 'enabled_plugins'),
  RABBITMQ_MNESIA_BASE: path.join(folder, 'data'),
  RABBITMQ_LOG_BASE: folder,
  RABBITMQ_LOGS: '-',
  // One scheduler, because the machine may be small and also runs the tests.
  RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
    consumerTimeout === undefined
      ? '+S 1:1'
      : `+S 1:1 -rabbit consumer_timeout ${consumerTimeout} -rabbit channel_tick_interval 500`,
});
