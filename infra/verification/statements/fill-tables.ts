import type pg from 'pg';

export interface Column {
  /** With its schema. */
  table: string;
  name: string;
  type: string;
}

/** Columns besides IDs whose values are unique, or nearly so: each copy needs other ones. */
const UNIQUE_TEXTS = new Set([
  'gateway.workspaces.slug',
  'incident.provisionings.channel_name',
  'webhook.host_addresses.host',
  'webhook.windows.key',
  'webhook.subscriptions.id',
]);
/** The distance between the IDs of copies. */
export const STEP = 1_000_000_000;

/** Tables that do not grow. */
const isFixed = (table: string) =>
  table.endsWith('.identity_version') ||
  table.endsWith('.alert_clock') ||
  table === 'gateway.installation' ||
  table.includes('.migrations');

/**
 * Copies all rows of all growing tables, each time as data of other workspaces: all IDs are shifted by the same distance,
 * so that references stay valid. Then updates the planner's statistics.
 * @param copies how often the rows of a table are copied, by its name with its schema
 * @returns the number of rows by growing table
 */
export async function fillTables(
  client: pg.Client,
  { schemas, copies }: { schemas: readonly string[]; copies: (table: string) => number },
): Promise<Map<string, number>> {
  const tables = await growingTables(client, schemas);
  const filled = new Map<string, number>();
  // Foreign keys need no check: all tables are copied.
  await client.query('set session_replication_role = replica');
  for (const [table, columns] of tables) {
    const names = columns.map(({ name }) => `"${name}"`).join(', ');
    await client.query(`
      insert into ${table} (${names})
      select ${columns.map(copyOf).join(', ')} from ${table}, generate_series(1, ${copies(table)}) as copy`);
    await client.query(`analyze ${table}`);
    const { rows: counted } = await client.query<{ rows: number }>(`select count(*)::integer as rows from ${table}`);
    filled.set(table, counted[0]?.rows ?? 0);
  }
  await client.query('reset session_replication_role');
  return filled;
}

/** The tables of schemas that grow, with their columns that are not generated; of one with partitions, not these. */
export async function growingTables(client: pg.Client, schemas: readonly string[]): Promise<Map<string, Column[]>> {
  const { rows } = await client.query<Column>(
    `select table_schema || '.' || table_name as "table", column_name as name, udt_name as type
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = any($1) and table_type = 'BASE TABLE' and is_generated = 'NEVER'
      and not (select relispartition from pg_class where oid = format('%I.%I', table_schema, table_name)::regclass)
    order by ordinal_position`,
    [schemas],
  );
  return Map.groupBy(
    rows.filter(({ table }) => !isFixed(table)),
    ({ table }) => table,
  );
}

/** The SQL expression for a column in a copy of its row; `copy` is the number of the copy. */
export function copyOf({ table, name, type }: Column): string {
  const column = `${table}."${name}"`;
  const isId = name === 'id' || name.endsWith('_id');
  if (type === 'uuid') return `md5(${column}::text || copy)::uuid`;
  if (type === 'bytea') return `sha256(${column} || copy::text::bytea)`;
  if (type === 'int8' && (isId || name === 'seq')) return `${column} + copy * ${STEP}::bigint`;
  if (type === 'text' && (name === 'subscription_id' || UNIQUE_TEXTS.has(`${table}.${name}`))) {
    return `${column} || '-' || copy`;
  }
  // Otherwise all copies would have the same times.
  if (type === 'timestamptz') return `${column} - copy * interval '1 minute'`;
  // Hashes of a workspace, a field and a piece of a text.
  if (type === '_int8') {
    return `case when ${column} is not null then array(select gram + copy from unnest(${column}) as gram) end`;
  }
  // Each key begins with the ID of a workspace or of a field.
  if (type === '_text' && name.endsWith('_keys')) {
    const key = `split_part(key, ' ', 1)::bigint + copy * ${STEP}::bigint || substr(key, strpos(key, ' '))`;
    return `case when ${column} is not null then array(select ${key} from unnest(${column}) as key) end`;
  }
  return column;
}
