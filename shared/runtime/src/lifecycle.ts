import { ConfigError } from './config.ts';

/** A running app: an HTTP address and an orderly end. */
export interface App {
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  /** Takes no new work, finishes what is under way, closes its connections. Safe to call twice. */
  stop(): Promise<void>;
}

/** What a child process tells the process that started it. */
export interface ReadyMessage {
  type: 'ready';
  url: string;
}

const STOP_TIMEOUT = 25_000;

/**
 * The life of a process: starts its app, says so to a parent that listens, and stops it at the first SIGINT or SIGTERM.
 * A second signal, which terminals and `make` deliver, does not cut the drain short. A broken setting, or whatever else
 * keeps the app from starting, is one line on stderr and exit code 1.
 */
export async function runProcess(start: () => Promise<App>): Promise<void> {
  const signalled = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => signalled.resolve());
  // A parent that dies takes its children along instead of leaving them on their ports.
  process.on('disconnect', () => signalled.resolve());

  let app: App;
  try {
    app = await start();
  } catch (error) {
    process.stderr.write(`${describeStartFailure(error)}\n`);
    process.exit(1);
  }
  process.send?.({ type: 'ready', url: app.url } satisfies ReadyMessage);
  await signalled.promise;

  setTimeout(() => {
    process.stderr.write(`could not stop in ${STOP_TIMEOUT / 1_000} seconds\n`);
    process.exit(1);
  }, STOP_TIMEOUT).unref();
  await app.stop();
  process.exit(0);
}

export function describeStartFailure(error: unknown): string {
  if (error instanceof ConfigError) return `settings: ${error.message}`;
  // Not instanceof: a network error comes from Node itself, whose Error is another one than that of a test's sandbox.
  if (!Error.isError(error)) return String(error);
  const { code, port, errors } = error as NodeJS.ErrnoException & { port?: number; errors?: unknown };
  if (code === 'EADDRINUSE') return `port ${port} is taken: stop what listens there or set PORT`;
  if (Array.isArray(errors)) return errors.map(describeStartFailure).join('; ');
  return error.message;
}
