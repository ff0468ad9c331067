import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { createLogger, type Logger } from '@tocsin/runtime';

/** The log file of all apps of one process. */
export interface LogFile {
  readonly path: string;
  loggerOf(app: string): Logger;
  /** Waits until all lines are written. */
  close(): Promise<void>;
}

/** Opens a new log file; the previous one is kept as `<name>.1`. */
export async function openLogFile(folder: string, level: string): Promise<LogFile> {
  const file = await rotate(path.join(folder, 'tocsin.log'));
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
  const loggers = new Map<string, Logger>();
  return {
    path: file,
    loggerOf: (app) => {
      const logger = loggers.get(app) ?? createLogger({ app, level, destination: stream });
      loggers.set(app, logger);
      return logger;
    },
    close: async () => {
      stream.end();
      await finished(stream);
    },
  };
}

/** Renames a log file to `<name>.1`, so that a new one can take its name. */
export async function rotate(file: string): Promise<string> {
  await rename(file, `${file}.1`).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  });
  return file;
}
