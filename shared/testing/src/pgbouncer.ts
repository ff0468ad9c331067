import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from './eventually.ts';
import { loopbackServer } from './loopback-server.ts';

/** A PgBouncer of a test. */
export interface PgBouncer {
  /** The server's URL with the pooler's address. */
  url: string;
  stop(): Promise<void>;
}

/** As Debian's package installs it. */
export const PGBOUNCER = 'pgbouncer';

/** For its transaction mode: a newer one may be installed beside it. */
export const TRANSACTION_PGBOUNCER = process.env['TOCSIN_TEST_PGBOUNCER'] ?? PGBOUNCER;

/** Whether a PgBouncer keeps prepared statements in transaction mode, as 1.21 and later do. */
export function keepsStatements(program: string): boolean {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(stdout) ?? [];
  return Number(major) * 1_000 + Number(minor) >= 1_021;
}

/**
 * Starts PgBouncer in front of a server that trusts its clients.
 * @param options.roles that may connect, besides that of the URL
 * @param options.program default: the installed one
 * @param options.settings of its section `pgbouncer`
 */
export async function startPgBouncer(
  serverUrl: string,
  options: { roles?: readonly string[]; settings: Record<string, string | number>; program?: string },
): Promise<PgBouncer> {
  const { roles = [], settings, program = PGBOUNCER } = options;
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-pgbouncer-'));
  const server = new URL(serverUrl);
  const { port, close } = await loopbackServer(net.createServer());
  await close();
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: path.join(folder, 'users.txt'),
    ...settings,
  };
  const lines = [
    '[databases]',
    `* = host=${server.hostname} port=${server.port === '' ? 5432 : server.port}`,
    '[pgbouncer]',
    ...Object.entries(all).map(([name, value]) => `${name} = ${value}`),
  ];
  const file = path.join(folder, 'pgbouncer.ini');
  const users = [decodeURIComponent(server.username), ...roles].map((role) => `"${role}" ""\n`);
  await writeFile(path.join(folder, 'users.txt'), users.join(''));
  await writeFile(file, `${lines.join('\n')}\n`);
  // It refuses to run as root.
  await chmod(folder, 0o755);
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child: ChildProcess = spawn(program, ['-q', ...user, file], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  await eventually(async () => accepts(port), { what: 'PgBouncer' });
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${port}`;
  url.search = '';
  return {
    url: url.href,
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function accepts(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
