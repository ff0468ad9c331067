import { ConfigError } from './config-error.ts';

/** A running app. */
export interface App {
  /** Its base URL, without a trailing slash. */
  readonly url: string;
  /** Accepts no new work, finishes the work in progress and closes its connections. Safe to call twice. */
  stop(): Promise<void>;
}

/** The message that a child process sends to its parent once it is ready. */
export interface ReadyMessage {
  type: 'ready';
  url: string;
}

const STOP_TIMEOUT = 25_000;

const exitHooks: (() => Promise<void>)[] = [];

/** Registers work, of bounded time, for the end of the process: after its app has stopped, or could not start. */
export function beforeExit(work: () => Promise<void>): void {
  exitHooks.push(work);
}

const runExitHooks = async () => Promise.allSettled(exitHooks.map(async (work) => work()));

/**
 * Runs a process: starts its app, sends `ReadyMessage` to its parent, and stops the app on SIGINT or SIGTERM. Further
 * signals, which terminals and `make` send, do not shorten the stop. If the app cannot start, prints one line to stderr
 * and exits with code 1.
 */
export async function runProcess(start: () => Promise<App>): Promise<void> {
  const signalled = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => signalled.resolve());
  // The parent died: stop too, to free the port.
  process.on('disconnect', () => signalled.resolve());

  let app: App;
  try {
    app = await start();
  } catch (error) {
    process.stderr.write(`${describeStartFailure(error)}\n`);
    await runExitHooks();
    process.exit(1);
  }
  process.send?.({ type: 'ready', url: app.url } satisfies ReadyMessage);
  await signalled.promise;

  setTimeout(() => {
    process.stderr.write(`could not stop in ${STOP_TIMEOUT / 1_000} seconds\n`);
    process.exit(1);
  }, STOP_TIMEOUT).unref();
  await app.stop();
  await runExitHooks();
  process.exit(0);
}

/** Of PostgreSQL: the server refuses the role or its password. */
const REFUSED_LOGINS = new Set(['28000', '28P01']);

export function describeStartFailure(error: unknown): string {
  if (error instanceof ConfigError) return `settings: ${error.message}`;
  if (!Error.isError(error)) return String(error);
  const { code, port, errors } = error as NodeJS.ErrnoException & { port?: number; errors?: unknown };
  if (code === 'EADDRINUSE') return `port ${port} is taken: stop what listens there or set PORT`;
  if (Array.isArray(errors)) return errors.map(describeStartFailure).join('; ');
  return code !== undefined && REFUSED_LOGINS.has(code)
    ? `${error.message}: correct the user or the password of the URL`
    : error.message;
}
