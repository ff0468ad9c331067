import { type Knex, query } from './database.ts';

/** An ID of a table that is not in use. */
export async function newId(db: Knex, table: string): Promise<number> {
  const [row] = await query<{ id: number }>(db, {
    name: `new-id-of-${table}`,
    text: `select nextval(pg_get_serial_sequence('${table}', 'id')) as id`,
  });
  return row?.id ?? 0;
}
