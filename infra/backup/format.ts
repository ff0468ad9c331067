/**
 * The format of a backup: a gzip file of lines of JSON, in this order. Rows are in COPY's text format, which every major
 * version of PostgreSQL reads.
 *
 *     { "tocsin_backup": 1, … }                                   the header
 *     { "table": { "schema", "name", "columns" } }                for each table:
 *     { "bytes": 65536 }                                            as often as needed, followed by that many bytes of rows
 *     { "end": { "rows", "digest" } }
 *     { "sequences": [{ "schema", "name", "value" }] }
 *     { "secrets": { "secret-keys": "…" } }
 *     { "complete": { "tables", "sha256" } }                      of all bytes before this line
 */
import { z } from 'zod';

export const FORMAT_VERSION = 1;

/** Bytes of rows in one frame, about, and the most that a reader accepts. */
export const FRAME_BYTES = 262_144;
const MAX_FRAME_BYTES = 16 * FRAME_BYTES;
/** Bytes of a line of JSON that a reader accepts. */
export const MAX_LINE_BYTES = 4_194_304;

const identifier = z.string().min(1).max(63);

export const header = z.object({
  tocsin_backup: z.literal(FORMAT_VERSION),
  created_at: z.string(),
  product_version: z.string(),
  postgres_version: z.string(),
  /** The schemas with the names of their applied migrations, in order. */
  schemas: z.array(z.object({ name: identifier, migrations: z.array(z.string()) })),
  /** `external`: the keys were set by TOCSIN_SECRET_KEYS, and the backup does not have them. */
  secret_keys: z.enum(['included', 'external']),
});

/** Only the version, of this format or a later one. */
export const anyHeader = z.object({ tocsin_backup: z.int().min(1), product_version: z.string().optional() });

const table = z.object({ schema: identifier, name: identifier, columns: z.array(identifier) });
const end = z.object({ rows: z.int().min(0), digest: z.string() });
const sequence = z.object({ schema: identifier, name: identifier, value: z.string().regex(/^-?\d{1,19}$/) });

/** The files of a data folder that a backup has, by name. */
export const SECRET_FILES = ['secret-keys', 'demo-token'] as const;
const secrets = z.partialRecord(z.enum(SECRET_FILES), z.string().min(1).max(65_536));

/** The lines after the header. */
export const line = z.union([
  z.strictObject({ table }),
  z.strictObject({ bytes: z.int().min(1).max(MAX_FRAME_BYTES) }),
  z.strictObject({ end }),
  z.strictObject({ sequences: z.array(sequence) }),
  z.strictObject({ secrets }),
  z.strictObject({ complete: z.object({ tables: z.int().min(0), sha256: z.string() }) }),
]);

export type BackupHeader = z.infer<typeof header>;
export type BackupTable = z.infer<typeof table>;
export type TableEnd = z.infer<typeof end>;
export type Sequence = z.infer<typeof sequence>;
export type Secrets = z.infer<typeof secrets>;

export const tableName = ({ schema, name }: { schema: string; name: string }) => `${schema}.${name}`;
