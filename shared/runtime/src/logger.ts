import { pino, type DestinationStream, type Logger } from 'pino';
import { traceLogFields } from './trace-context.ts';

export type { Logger };

/** Properties of logged objects that hold credentials: they must not be logged. */
const SECRETS = ['authorization', 'cookie', 'token', 'secret', 'password'].flatMap((key) => [
  key,
  `*.${key}`,
  `*.*.${key}`,
]);

/** A logger that writes JSON lines. */
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
    options.destination ?? pino.destination({ sync: false }),
  );
}
