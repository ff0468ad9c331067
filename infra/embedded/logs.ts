import { createWriteStream, openSync, renameSync, type WriteStream } from 'node:fs';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { createLogger, type Logger } from '@tocsin/runtime';
import { formatLine, type LogFormat } from './log-lines.ts';
import { ignoreMissing } from '../installation/missing-files.ts';

/** The log file of all apps of one process. */
export interface LogFile {
  readonly path: string;
  loggerOf(app: string): Logger;
  /** Waits until all lines are written. */
  close(): Promise<void>;
}

const MAX_BYTES = 67_108_864;

/**
 * Opens a new log file; the previous one is kept as `<name>.1`. The same happens when the file is full, so both together
 * have at most twice the bytes.
 */
export function openLogFile(
  folder: string,
  {
    level,
    format = 'json',
    maxBytes = MAX_BYTES,
  }: { level: string; format?: LogFormat | undefined; maxBytes?: number },
): LogFile {
  const file = rotate(path.join(folder, 'tocsin.log'));
  const destination = boundedFile(file, maxBytes);
  const loggers = new Map<string, Logger>();
  return {
    path: file,
    loggerOf: (app) => {
      const pretty = { write: (line: string) => destination.write(`${formatLine(app, line)}\n`) };
      const logger =
        loggers.get(app) ?? createLogger({ app, level, destination: format === 'pretty' ? pretty : destination });
      loggers.set(app, logger);
      return logger;
    },
    close: destination.close,
  };
}

function boundedFile(file: string, maxBytes: number) {
  let stream = openStream(file);
  let bytes = 0;
  const full = new Set<Promise<void>>();
  const startAnother = () => {
    bytes = 0;
    let next: WriteStream;
    try {
      // At once: the stream that is full writes the rest of its lines into the renamed file.
      rotate(file);
      next = openStream(file);
    } catch {
      // Without room or rights for another file, the present one is better than none.
      return;
    }
    const ending = end(stream).finally(() => full.delete(ending));
    full.add(ending);
    stream = next;
  };
  return {
    write: (line: string) => {
      const length = Buffer.byteLength(line);
      if (bytes > 0 && bytes + length > maxBytes) startAnother();
      bytes += length;
      stream.write(line);
    },
    close: async () => {
      await Promise.all([...full, end(stream)]);
    },
  };
}

const openStream = (file: string) => createWriteStream(file, { fd: openSync(file, 'a', 0o600) });

async function end(stream: WriteStream): Promise<void> {
  stream.end();
  await finished(stream);
}

/** Renames a log file, if there is one, to `<name>.1`, so that a new one can take its name. */
export function rotate(file: string): string {
  try {
    renameSync(file, `${file}.1`);
  } catch (error) {
    ignoreMissing(error);
  }
  return file;
}
