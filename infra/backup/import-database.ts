import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { copyStatement, listTables } from './export-database.ts';
import { type BackupTable, tableName } from './format.ts';
import { type BackupContents, readBackup } from './read-backup.ts';
import { RowDigest } from './row-digest.ts';

/**
 * Loads a backup into a database whose schemas have exactly the migrations of the backup, in one transaction: all of it
 * or nothing. Needs a superuser.
 * @param client of `withSession`
 * @throws Error unless every table then has the rows of the backup
 */
export async function importDatabase(client: pg.Client, file: string): Promise<BackupContents> {
  await client.query('begin');
  // The source had enforced its constraints; without triggers, foreign keys take no memory for each row.
  await client.query(`set local session_replication_role = 'replica'`);
  let expected = new Map<string, BackupTable>();
  const contents = await readBackup(file, {
    onHeader: async ({ schemas }) => {
      const tables = await listTables(
        client,
        schemas.map(({ name }) => name),
      );
      expected = new Map(tables.map((table) => [tableName(table), table]));
      // Migrations may have inserted rows, which the backup has too.
      if (tables.length > 0) await client.query(`truncate ${tables.map(quotedName).join(', ')}`);
    },
    onTable: async (table, rows) => {
      const target = expected.get(tableName(table));
      if (target === undefined || !isSameColumns(target, table)) {
        throw new Error(`the table ${tableName(table)} of the backup is not the one that its migrations make`);
      }
      await pipeline(rows, client.query(copyFrom(copyStatement(table, 'from stdin'))));
    },
  });
  for (const { table, end } of contents.tables) {
    const digest = new RowDigest();
    for await (const chunk of client.query(copyTo(copyStatement(table, 'to stdout')))) digest.update(chunk as Buffer);
    const loaded = digest.result();
    if (loaded.rows !== end.rows || loaded.digest !== end.digest) {
      throw new Error(`the rows of ${tableName(table)} differ from those of the backup after they were loaded`);
    }
  }
  for (const { schema, name, value } of contents.sequences) {
    await client.query('select setval($1::regclass, $2::bigint)', [quotedName({ schema, name }), value]);
  }
  await client.query('commit');
  await client.query('analyze');
  return contents;
}

const quotedName = ({ schema, name }: { schema: string; name: string }) =>
  `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`;

const isSameColumns = (one: BackupTable, other: BackupTable) =>
  one.columns.toSorted().join() === other.columns.toSorted().join();
