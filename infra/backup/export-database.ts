import { createHash } from 'node:crypto';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import {
  type BackupHeader,
  type BackupTable,
  FORMAT_VERSION,
  FRAME_BYTES,
  type Secrets,
  type Sequence,
} from './format.ts';
import { RowDigest } from './row-digest.ts';

/** The names of the migrations that have run; running the migrations makes it. */
const MIGRATION_TABLE = 'migrations';

export interface ExportOptions {
  /** In a transaction whose snapshot all tables are read in. */
  client: pg.Client;
  schemas: readonly string[];
  createdAt: string;
  productVersion: string;
  secrets: Secrets;
  /** Receives each table when all its rows have been read. */
  onTable: (table: BackupTable, rows: number) => void;
}

/** Yields a backup, not compressed. */
export async function* exportDatabase(options: ExportOptions): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let tables = 0;
  for await (const part of parts(options, () => (tables += 1))) {
    hash.update(part);
    yield part;
  }
  yield toLine({ complete: { tables, sha256: hash.digest('hex') } });
}

const toLine = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`);

async function* parts(options: ExportOptions, countTable: () => void): AsyncGenerator<Buffer> {
  const { client, schemas, secrets, onTable } = options;
  yield toLine(await readHeader(options));
  for (const table of await listTables(client, schemas)) {
    yield toLine({ table });
    const digest = new RowDigest();
    for await (const frame of framesOf(client.query(copyTo(copyStatement(table, 'to stdout'))))) {
      digest.update(frame);
      yield toLine({ bytes: frame.length });
      yield frame;
    }
    const end = digest.result();
    yield toLine({ end });
    countTable();
    onTable(table, end.rows);
  }
  // Sequences are in no snapshot: read after the rows, they have at least the IDs of these.
  yield toLine({ sequences: await listSequences(client, schemas) });
  yield toLine({ secrets });
}

/** COPY of a table's own columns: generated ones are computed again. */
export const copyStatement = ({ schema, name, columns }: BackupTable, direction: 'to stdout' | 'from stdin') => {
  const list = columns.map((column) => pg.escapeIdentifier(column)).join(', ');
  const table = `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`;
  // PostgreSQL copies the rows of partitions only if they are selected.
  return direction === 'to stdout'
    ? `copy (select ${list} from ${table}) to stdout`
    : `copy ${table} (${list}) from stdin`;
};

async function readHeader(options: ExportOptions): Promise<BackupHeader> {
  const { client, schemas, createdAt, productVersion, secrets } = options;
  const { rows: versions } = await client.query<{ server_version: string }>('show server_version');
  const withMigrations: BackupHeader['schemas'] = [];
  for (const name of schemas) {
    const { rows } = await client.query<{ name: string }>(
      `select name from ${pg.escapeIdentifier(name)}.migrations order by id`,
    );
    withMigrations.push({ name, migrations: rows.map((row) => row.name) });
  }
  return {
    tocsin_backup: FORMAT_VERSION,
    created_at: createdAt,
    product_version: productVersion,
    postgres_version: versions[0]?.server_version ?? '',
    schemas: withMigrations,
    secret_keys: secrets['secret-keys'] === undefined ? 'external' : 'included',
  };
}

/** The schemas that exist, of those named. */
export async function listSchemas(client: pg.Client, schemas: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ schema: string }>(
    `select n.nspname as schema from pg_namespace n join pg_class c on c.relnamespace = n.oid
     where c.relname = 'migrations' and n.nspname = any($1)`,
    [schemas],
  );
  const existing = new Set(rows.map(({ schema }) => schema));
  return schemas.filter((schema) => existing.has(schema));
}

export async function listTables(client: pg.Client, schemas: readonly string[]): Promise<BackupTable[]> {
  const { rows } = await client.query<BackupTable>(
    `select n.nspname as schema, c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> $2
     group by 1, 2 order by 1, 2`,
    [schemas, MIGRATION_TABLE],
  );
  return rows;
}

async function listSequences(client: pg.Client, schemas: readonly string[]): Promise<Sequence[]> {
  const { rows } = await client.query<Sequence>(
    `select schemaname as schema, sequencename as name, last_value::text as value from pg_sequences
     where schemaname = any($1) and last_value is not null and sequencename !~ '^${MIGRATION_TABLE}_'
     order by 1, 2`,
    [schemas],
  );
  return rows;
}

/** Joins chunks, of which the server sends one for each row. */
async function* framesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    // A large row is several frames.
    for (let start = 0; start < chunk.length; start += FRAME_BYTES) {
      const part = chunk.subarray(start, start + FRAME_BYTES);
      pending.push(part);
      bytes += part.length;
      if (bytes < FRAME_BYTES) continue;
      yield Buffer.concat(pending);
      pending = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(pending);
}
