import { createReadStream } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';

/** npm runs commands in the project's folder; INIT_CWD is the folder that it was called from. */
const WORKING_FOLDER = process.env.INIT_CWD ?? '.';

/** Reads a file named on the command line. @throws Error naming a file that is missing, unreadable or too long */
export async function readInputFile(file: string, maxBytes: number): Promise<Buffer> {
  try {
    return await readAll(createReadStream(path.resolve(WORKING_FOLDER, file)), file, maxBytes);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Error(`${file} does not exist`, { cause: error });
    if (code !== undefined) throw new Error(`${file} cannot be read: ${message}`, { cause: error });
    throw error;
  }
}

/** Reads the standard input. @throws Error when it is too long */
export const readStandardInput = async (maxBytes: number): Promise<Buffer> =>
  readAll(process.stdin, 'standard input', maxBytes);

async function readAll(stream: Readable, name: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`${name} is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
