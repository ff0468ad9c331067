import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import type { PostgresInstallation } from './postgres-installation.ts';
import { SERVER_ENVIRONMENT } from './postgres-process.ts';

/**
 * Checks that the major version of the database is that of the programs, which refuse any other.
 * @throws an error with a one-line message that names the solution
 */
export async function checkVersion({ cluster, version }: PostgresInstallation): Promise<void> {
  const text = await readFile(path.join(cluster, 'PG_VERSION'), 'utf8').catch(() => '');
  const existing = text.trim();
  const [installed = ''] = version.split('.', 1);
  // If the file is missing or damaged, the server reports it itself.
  if (!/^\d{1,3}$/.test(existing) || existing === installed) return;
  throw new Error(
    `the database in ${cluster} is of PostgreSQL ${existing}, and this is PostgreSQL ${installed}: make a backup with the ` +
      'release of Tocsin that made it (make backup FILE=…), and restore it with this one (make restore FILE=… FORCE=1), ' +
      'as docs/guides/upgrading.md shows; or remove the data with make reset',
  );
}

/**
 * Changes the password of the superuser of a database that is not running. Uses a server in single-user mode: it opens
 * no socket, so nobody can connect meanwhile, and it needs only the files, which the caller owns.
 * @throws an error with the server's message when it fails
 */
export async function setPassword({ cluster, bin, user }: PostgresInstallation, password: string): Promise<void> {
  const words = ['--single', '-D', cluster, '-c', 'exit_on_error=on', 'postgres'];
  const server = spawn(path.join(bin, 'postgres'), words, {
    cwd: '/',
    env: SERVER_ENVIRONMENT,
    stdio: ['pipe', 'ignore', 'pipe'],
    ...(user !== undefined && { uid: user.uid, gid: user.gid }),
  });
  let stderr = '';
  let failure: Error | undefined;
  server.on('error', (error) => (failure = error));
  server.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-STDERR_KEPT)));
  // The server may end before it has read the input.
  server.stdin.on('error', () => undefined);
  // By standard input: every user of the machine can see arguments.
  server.stdin.end(`alter role postgres password ${pg.escapeLiteral(password)};\n`);
  const { promise, resolve } = Promise.withResolvers<number | null>();
  server.on('close', resolve);
  const code = await promise;
  if (code === 0) return;
  // Only this line: the statement logged below it contains the password.
  const reason = stderr
    .split('\n')
    .findLast((text) => REASON.test(text))
    ?.replace(REASON, '');
  throw new Error(
    `the database in ${cluster} does not take a new password: ${failure?.message ?? reason ?? `exit code ${code}`}`,
  );
}

const REASON = /^.*\b(?:ERROR|FATAL|PANIC): +|^postgres: /;

/** Characters at the end of the server's output that are kept. */
const STDERR_KEPT = 8_192;
