import type { Knex } from '@tocsin/postgres';

/** Rows that one statement deletes: with some of them, the database deletes those of other tables. */
const BATCH = 200;
/** Remembers which workspaces are gone. */
const KEPT = 'deleted_workspaces';

/**
 * Deletes all rows of a workspace from a schema, whatever its tables are, a batch at a time: those that refer to others
 * first. Repeats until there are none, so it may be interrupted, and a service may still be at work. Returns how many.
 */
export async function deleteRows(database: Knex, workspaceId: number): Promise<number> {
  const tables = await tablesOf(database);
  let deleted = 0;
  for (;;) {
    const before = deleted;
    for (const { name, ownReferences } of tables) {
      // Rows of a table that refer to each other would keep each other.
      for (const column of ownReferences)
        await database(name)
          .where({ workspace_id: workspaceId })
          .whereNotNull(column)
          .update({ [column]: null });
      for (let rows = BATCH; rows > 0; deleted += rows) {
        const result = await database.raw<{ rowCount: number }>(
          `delete from ?? where workspace_id = ? and ctid = any(array(
             select ctid from ?? where workspace_id = ? limit ${BATCH}))`,
          [name, workspaceId, name, workspaceId],
        );
        rows = result.rowCount;
      }
    }
    if (deleted === before) break;
  }
  const dead = await database.raw<{ rowCount: number }>(
    `delete from dead_letters where body like '%"workspace":{"id":' || ? || ',%'`,
    [workspaceId],
  );
  return deleted + dead.rowCount;
}

interface Table {
  name: string;
  /** Its columns that refer to rows of its own. */
  ownReferences: string[];
}

/** The tables with rows of workspaces, those that refer to others before these. */
async function tablesOf(database: Knex): Promise<Table[]> {
  const { rows: names } = await database.raw<{ rows: { name: string }[] }>(
    `select c.relname as name from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname <> ? order by 1`,
    [KEPT],
  );
  const { rows: keys } = await database.raw<{ rows: { child: string; parent: string; column: string }[] }>(
    `select child.relname as child, parent.relname as parent, a.attname as column
     from pg_constraint k join pg_class child on child.oid = k.conrelid join pg_class parent on parent.oid = k.confrelid
     join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[array_upper(k.conkey, 1)]
     where k.contype = 'f' and child.relnamespace = current_schema()::regnamespace`,
  );
  const ordered: string[] = [];
  const add = (name: string) => {
    if (ordered.includes(name)) return;
    for (const { child, parent } of keys) if (parent === name && child !== name) add(child);
    ordered.push(name);
  };
  for (const { name } of names) add(name);
  const withRows = new Set(names.map(({ name }) => name));
  return ordered
    .filter((name) => withRows.has(name))
    .map((name) => ({
      name,
      ownReferences: keys.filter(({ child, parent }) => child === name && parent === name).map(({ column }) => column),
    }));
}
