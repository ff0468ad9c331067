import { pino, type DestinationStream, type Logger } from 'pino';
import { traceLogFields } from './trace-context.ts';

export type { Logger };

/** Properties of logged objects that hold credentials: they must not be logged. */
const SECRETS = ['authorization', 'cookie', 'token', 'secret', 'password'].flatMap((key) => [
  key,
  `*.${key}`,
  `*.*.${key}`,
]);

/**
 * Lines are written together, at the latest after 100 ms and before the process ends. Several processes may write to the
 * same pipe, where a write of at most 4 KiB is never mixed with another one. If nobody reads the pipe, lines are dropped
 * instead of kept without a bound.
 */
const STANDARD_OUTPUT = { sync: false, minLength: 4_000, maxWrite: 4_096, maxLength: 16_777_216, periodicFlush: 100 };

/** A logger that writes JSON lines, to standard output unless there is another destination. */
export function createLogger(options: { app: string; level: string; destination?: DestinationStream }): Logger {
  return pino(
    {
      level: options.level,
      base: { app: options.app },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => traceLogFields(),
      redact: { paths: SECRETS, censor: '[redacted]' },
    },
    options.destination ?? pino.destination(STANDARD_OUTPUT),
  );
}
