import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger };

/** Structured JSON lines. Nothing that authenticates anybody may reach them, whatever object it rides on. */
const SECRETS = ['authorization', 'cookie', 'token', 'secret', 'password'].flatMap((key) => [
  key,
  `*.${key}`,
  `*.*.${key}`,
]);

export function createLogger(options: { app: string; level: string; destination?: DestinationStream }): Logger {
  return pino(
    {
      level: options.level,
      base: { app: options.app },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRETS, censor: '[redacted]' },
    },
    options.destination ?? pino.destination({ sync: false }),
  );
}
