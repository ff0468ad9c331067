import type pg from 'pg';

/** Something that sends statements to Postgres. */
type Sql = Pick<pg.Client, 'query'>;

interface Copies {
  /** With its schema. */
  table: string;
  /** The ID of the row to copy; the API has created it, so that it is as the service writes rows. */
  id: number;
  count: number;
  /** SQL expressions for columns that differ; `copy` is the number of the copy, from 1. */
  set: Readonly<Record<string, string>>;
}

/**
 * Copies a row by SQL, where requests would take too long or are refused since the values are too large: data that an
 * earlier release stored.
 */
export async function copyRow(sql: Sql, { table, id, count, set }: Copies): Promise<void> {
  const columns = await columnsOf(sql, table);
  await sql.query(
    `insert into ${table} (${columns.map((column) => `"${column}"`).join(', ')})
     select ${columns.map((column) => set[column] ?? `original."${column}"`).join(', ')}
     from ${table} as original, generate_series(1, $2::integer) as copy
     where original.id = $1`,
    [id, count],
  );
}

/** The columns that a copy of a row has, too. */
export async function columnsOf(sql: Sql, table: string): Promise<string[]> {
  const { rows } = await sql.query<{ column: string }>(
    `select attname as "column" from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname <> 'id' and attgenerated = ''
     order by attnum`,
    [table],
  );
  return rows.map(({ column }) => column);
}

/** Copies an incident `count` times. @param set as of `copyRow` */
export async function copyIncident(
  sql: Sql,
  workspaceId: number,
  { id, count, set }: { id: number; count: number; set?: Copies['set'] },
): Promise<void> {
  const last = `(select last from incident.incident_counters as counter where counter.workspace_id = ${workspaceId})`;
  await copyRow(sql, {
    table: 'incident.incidents',
    id,
    count,
    set: {
      number: `${last} + copy`,
      title: `'Copy ' || copy`,
      created_at: `original.created_at - copy * interval '1 second'`,
      ...set,
    },
  });
  await sql.query('update incident.incident_counters set last = last + $2 where workspace_id = $1', [
    workspaceId,
    count,
  ]);
}
