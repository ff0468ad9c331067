import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { UsageError } from './operation-parameters.ts';
import type { Session } from './session.ts';

/** Bytes. */
const MAX_INPUT = 16_777_216;

/**
 * Text of a file, or of stdin (`-`), however slowly it comes. UTF-8, or UTF-16 with a byte order mark, as PowerShell
 * writes it.
 * @throws UsageError
 */
export async function readInput(session: Pick<Session, 'stdin' | 'signal'>, file: string): Promise<string> {
  return readWith(session, file, decode);
}

/** The bytes of a file, or of stdin. @throws UsageError */
export const readBytes = async (session: Pick<Session, 'stdin' | 'signal'>, file: string): Promise<Buffer> =>
  readWith(session, file, (bytes) => bytes);

async function readWith<Content>(
  { stdin, signal }: Pick<Session, 'stdin' | 'signal'>,
  file: string,
  contentOf: (bytes: Buffer) => Content,
): Promise<Content> {
  const what = file === '-' ? 'stdin' : file;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    const stream = addAbortSignal(signal, file === '-' ? stdin : createReadStream(file));
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_INPUT) throw new UsageError(`${what} has more than ${MAX_INPUT} bytes`);
      chunks.push(chunk);
    }
    return contentOf(Buffer.concat(chunks));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot read ${what}: ${(error as Error).message}`);
  }
}

function decode(bytes: Buffer): string {
  const mark = bytes.toString('latin1', 0, 2);
  const encoding = mark === '\xff\xfe' ? 'utf-16le' : mark === '\xfe\xff' ? 'utf-16be' : 'utf-8';
  // It leaves the mark out.
  return new TextDecoder(encoding, { fatal: true }).decode(bytes);
}

/** Text of a flag: `@file` and `-` are read. @throws UsageError */
export const readFlag = async (session: Session, given: string): Promise<string> =>
  given === '-' || given.startsWith('@') ? readInput(session, given.replace(/^@/, '')) : given;
