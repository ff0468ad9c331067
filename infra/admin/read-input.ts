import { createReadStream } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { Flag } from './command.ts';
import type { FlagValues } from './flag-values.ts';
import { UsageError } from './target.ts';

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
const readStandardInput = async (maxBytes: number): Promise<Buffer> =>
  readAll(process.stdin, 'standard input', maxBytes);

/** The flags of a secret. @param value what it is in a word; `whose` describes it in the help */
export const secretFlags = (name: string, value: string, whose: string): Record<string, Flag> => ({
  [`${name}-file`]: { value: 'FILE', help: `a file with ${whose} ${value}, which is stored encrypted`, isFile: true },
  [name]: {
    value: value.toUpperCase(),
    help: `the ${value} itself, visible to other users of the machine; - reads it from standard input`,
  },
});

/** A secret has at most 512 bytes. */
const MAX_SECRET_INPUT_BYTES = 4_096;

/**
 * Reads the secret of `--<flag>-file` or `--<flag>`; `-` is standard input. Every user of the machine can see the command
 * line.
 */
export async function readSecret(values: FlagValues, command: string, flag: string): Promise<string> {
  const [file, secret] = [values.text(`${flag}-file`), values.text(flag)];
  if (file !== undefined && secret !== undefined)
    throw new UsageError(`${command}: use either --${flag}-file or --${flag}`);
  if (secret !== undefined && secret !== '-') return secret;
  if (file === undefined && secret === undefined)
    throw new UsageError(`${command}: --${flag}-file or --${flag} is missing`);
  const content = await (file === undefined
    ? readStandardInput(MAX_SECRET_INPUT_BYTES)
    : readInputFile(file, MAX_SECRET_INPUT_BYTES));
  const text = content.toString().trim();
  if (text === '') throw new UsageError(`${file ?? 'standard input'}: contains no secret`);
  return text;
}

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
