import { pino, type DestinationStream, type Logger } from 'pino';
import { traceLogFields } from './trace-context.ts';
import { runInBackground } from './work-context.ts';

export type { Logger };

/** Properties of logged objects that hold credentials: they must not be logged. */
const SECRETS = ['authorization', 'cookie', 'token', 'secret', 'password'].flatMap((key) => [
  key,
  `*.${key}`,
  `*.*.${key}`,
]);

/**
 * Lines are written together, at the latest after `FLUSH_INTERVAL` and before the process ends. Several processes may write
 * to the same pipe, where a write of at most 4 KiB is never mixed with another one. If nobody reads the pipe, lines are
 * dropped instead of kept without a bound.
 */
const STANDARD_OUTPUT = { sync: false, minLength: 4_000, maxWrite: 4_096, maxLength: 16_777_216 };
/** Milliseconds. */
const FLUSH_INTERVAL = 100;
/** Flushes after the last line, before the timer stops: a flush does nothing while a write is under way. */
const LAST_FLUSHES = 10;

/** Flushes only after lines, since `periodicFlush` of the stream writes all the time, if only an empty text. */
function standardOutput(): DestinationStream {
  const stream = pino.destination(STANDARD_OUTPUT);
  const write = stream.write.bind(stream);
  let timer: NodeJS.Timeout | undefined;
  let flushesLeft = 0;
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const flush = () => {
    flushesLeft -= 1;
    if (flushesLeft === 0) stop();
    stream.flush();
  };
  stream.write = (line) => {
    flushesLeft = LAST_FLUSHES;
    timer ??= runInBackground(() => setInterval(flush, FLUSH_INTERVAL).unref());
    return write(line);
  };
  stream.once('close', stop);
  return stream;
}

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
    options.destination ?? standardOutput(),
  );
}
