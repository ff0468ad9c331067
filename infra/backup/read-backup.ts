import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import {
  anyHeader,
  type BackupHeader,
  type BackupTable,
  FORMAT_VERSION,
  header,
  line,
  MAX_LINE_BYTES,
  type Secrets,
  type Sequence,
  type TableEnd,
  tableName,
} from './format.ts';
import { RowDigest } from './row-digest.ts';

/** What a backup contains, without its rows. */
export interface BackupContents {
  header: BackupHeader;
  tables: { table: BackupTable; end: TableEnd }[];
  sequences: Sequence[];
  secrets: Secrets;
}

/** Receives what is read, in the order of the file. */
export interface BackupVisitor {
  onHeader?(header: BackupHeader): Promise<void> | void;
  /** `rows` must be read to the end. */
  onTable?(table: BackupTable, rows: AsyncIterable<Buffer>): Promise<void>;
}

/** A file that is no backup, or a damaged or incomplete one. */
class UnusableBackup extends Error {}

/**
 * Reads a backup to its end and checks everything that it says about itself: structure, rows and digest of each table,
 * the checksum of the whole.
 * @throws UnusableBackup
 */
export async function readBackup(file: string, visitor: BackupVisitor = {}): Promise<BackupContents> {
  let contents: BackupContents | undefined;
  // Errors of the visitor are not the file's.
  let failure: unknown;
  try {
    await pipeline(createReadStream(file), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
      try {
        contents = await readContents(new ByteReader(chunks), visitor);
      } catch (error) {
        failure = error;
        throw error;
      }
    });
  } catch (error) {
    if (error instanceof UnusableBackup) throw new UnusableBackup(`${file} ${error.message}`);
    const { code = '' } = error as NodeJS.ErrnoException;
    // Errors of zlib: not a gzip file, a file that ends too early, a wrong CRC.
    if (code.startsWith('Z_')) {
      const isOther = (error as Error).message.includes('incorrect header check');
      throw new UnusableBackup(isOther ? `${file} is not a backup of Tocsin` : `${file} is damaged or incomplete`);
    }
    throw failure ?? error;
  }
  return contents as BackupContents;
}

async function readContents(reader: ByteReader, visitor: BackupVisitor): Promise<BackupContents> {
  const backupHeader = parseHeader(await reader.line());
  await visitor.onHeader?.(backupHeader);
  const contents: BackupContents = { header: backupHeader, tables: [], sequences: [], secrets: {} };
  for (;;) {
    const digestBefore = reader.digest();
    const item = parseLine(await reader.line());
    if ('table' in item) contents.tables.push(await readTable(reader, item.table, visitor));
    else if ('sequences' in item) contents.sequences.push(...item.sequences);
    else if ('secrets' in item) contents.secrets = item.secrets;
    else if ('complete' in item) {
      const { tables, sha256 } = item.complete;
      if (sha256 !== digestBefore || tables !== contents.tables.length) throw damaged('its checksum is wrong');
      if (!(await reader.isAtEnd())) throw damaged('there is something after its end');
      return contents;
    } else throw damaged('its parts are not in order');
  }
}

async function readTable(
  reader: ByteReader,
  table: BackupTable,
  visitor: BackupVisitor,
): Promise<{ table: BackupTable; end: TableEnd }> {
  const digest = new RowDigest();
  let end: TableEnd | undefined;
  const rows = async function* (): AsyncGenerator<Buffer> {
    for (;;) {
      const item = parseLine(await reader.line());
      if ('end' in item) {
        end = item.end;
        return;
      }
      if (!('bytes' in item)) throw damaged(`the rows of ${tableName(table)} have no end`);
      for await (const part of reader.bytes(item.bytes)) {
        digest.update(part);
        yield part;
      }
    }
  };
  if (visitor.onTable === undefined) for await (const _ of rows());
  else await visitor.onTable(table, rows());
  if (digest.isInRow) throw damaged(`a row of ${tableName(table)} has no end`);
  const { rows: count, digest: sum } = digest.result();
  if (end?.rows !== count || end.digest !== sum) throw damaged(`the rows of ${tableName(table)} have changed`);
  return { table, end };
}

const damaged = (reason: string) => new UnusableBackup(`is damaged or incomplete: ${reason}`);

function parseHeader(text: string | undefined): BackupHeader {
  const value = parseJson(text);
  const any = anyHeader.safeParse(value);
  if (!any.success) throw new UnusableBackup('is not a backup of Tocsin');
  const { tocsin_backup: version, product_version: product } = any.data;
  if (version > FORMAT_VERSION) {
    throw new UnusableBackup(`has a format that this release does not know: use Tocsin ${product ?? ''} or later`);
  }
  const parsed = header.safeParse(value);
  if (!parsed.success) throw damaged('its header is malformed');
  return parsed.data;
}

function parseLine(text: string | undefined) {
  if (text === undefined) throw damaged('it ends too early');
  const parsed = line.safeParse(parseJson(text));
  if (!parsed.success) throw damaged('a line is malformed');
  return parsed.data;
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

const NEWLINE = 10;

/** Reads lines and runs of bytes from chunks; keeps a chunk at a time. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #hash: Hash = createHash('sha256');
  #chunk: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The SHA-256 of all that was read. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  /** Returns the next line without its end; undefined at the end. */
  async line(): Promise<string | undefined> {
    const parts: Buffer[] = [];
    let bytes = 0;
    for (;;) {
      if (this.#chunk.length === 0 && !(await this.#next())) {
        if (bytes === 0) return undefined;
        throw damaged('it ends too early');
      }
      const end = this.#chunk.indexOf(NEWLINE);
      const part = this.#take(end === -1 ? this.#chunk.length : end + 1);
      parts.push(part);
      bytes += part.length;
      if (bytes > MAX_LINE_BYTES) throw damaged('a line is too long');
      if (end !== -1) return Buffer.concat(parts).subarray(0, -1).toString();
    }
  }

  async *bytes(count: number): AsyncGenerator<Buffer> {
    let remaining = count;
    while (remaining > 0) {
      if (this.#chunk.length === 0 && !(await this.#next())) throw damaged('it ends too early');
      const part = this.#take(Math.min(remaining, this.#chunk.length));
      remaining -= part.length;
      yield part;
    }
  }

  async isAtEnd(): Promise<boolean> {
    return this.#chunk.length === 0 && !(await this.#next());
  }

  #take(count: number): Buffer {
    const part = this.#chunk.subarray(0, count);
    this.#chunk = this.#chunk.subarray(count);
    this.#hash.update(part);
    return part;
  }

  async #next(): Promise<boolean> {
    for (;;) {
      const next: IteratorResult<Buffer, unknown> = await this.#chunks.next();
      if (next.done === true) return false;
      if (next.value.length === 0) continue;
      this.#chunk = next.value;
      return true;
    }
  }
}
