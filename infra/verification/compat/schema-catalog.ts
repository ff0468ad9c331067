import type pg from 'pg';
import { z } from 'zod';

const definitions = z.record(z.string(), z.string());

const column = z.strictObject({
  type: z.string(),
  nullable: z.literal(true).optional(),
  /** The default as SQL, or how the value is generated. */
  default: z.string().optional(),
});

const constraint = z.strictObject({
  definition: z.string(),
  columns: z.array(z.string()),
});

const table = z.strictObject({
  columns: z.record(z.string(), column),
  constraints: z.record(z.string(), constraint).optional(),
  /** Without those that belong to constraints. */
  indexes: z.record(z.string(), constraint).optional(),
  triggers: definitions.optional(),
});

export const catalogSchema = z.strictObject({
  /** By schema and name: `incident.incidents`. */
  tables: z.record(z.string(), table),
  /** Views, functions, types and sequences that belong to no column, by kind and name. */
  others: definitions,
});

/** What the migrations make in a database, as Postgres describes it. */
export type Catalog = z.infer<typeof catalogSchema>;
export type CatalogTable = z.infer<typeof table>;

interface Row {
  table: string;
  name: string;
  definition: string;
  columns: string[];
}

/** Which migrations have run. */
const IGNORED = `c.relname <> 'migrations'`;

const COLUMNS = `
  select n.nspname || '.' || c.relname as "table", a.attname as name,
    format_type(a.atttypid, a.atttypmod)
      || case when a.attcollation not in (0, t.typcollation) then ' collate ' || l.collname else '' end as definition,
    not a.attnotnull as nullable,
    case when a.attidentity <> '' then 'identity ' || a.attidentity::text
      when a.attgenerated <> '' then 'generated ' || pg_get_expr(d.adbin, d.adrelid)
      else pg_get_expr(d.adbin, d.adrelid) end as default
  from pg_attribute a
  join pg_class c on c.oid = a.attrelid
  join pg_namespace n on n.oid = c.relnamespace
  join pg_type t on t.oid = a.atttypid
  left join pg_collation l on l.oid = a.attcollation
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where n.nspname = any($1) and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped and ${IGNORED}
  order by 1, 2`;

// Postgres 18 also lists NOT NULL as a constraint; the columns have it already.
const CONSTRAINTS = `
  select n.nspname || '.' || c.relname as "table", k.conname as name, pg_get_constraintdef(k.oid) as definition,
    array(select attname::text from pg_attribute where attrelid = c.oid and attnum = any(k.conkey) order by 1) as columns
  from pg_constraint k
  join pg_class c on c.oid = k.conrelid
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1) and k.contype <> 'n' and ${IGNORED}
  order by 1, 2`;

const INDEXES = `
  select n.nspname || '.' || c.relname as "table", i.relname as name, pg_get_indexdef(x.indexrelid) as definition,
    array(select attname::text from pg_attribute where attrelid = c.oid and attnum = any(x.indkey) order by 1) as columns
  from pg_index x
  join pg_class i on i.oid = x.indexrelid
  join pg_class c on c.oid = x.indrelid
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1) and ${IGNORED}
    and not exists (select from pg_constraint k where k.conindid = i.oid and k.contype in ('p', 'u', 'x'))
  order by 1, 2`;

const TRIGGERS = `
  select n.nspname || '.' || c.relname as "table", g.tgname as name, pg_get_triggerdef(g.oid) as definition,
    array[]::text[] as columns
  from pg_trigger g
  join pg_class c on c.oid = g.tgrelid
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1) and not g.tgisinternal
  order by 1, 2`;

const OTHERS = `
  select 'view ' || n.nspname || '.' || c.relname as name, pg_get_viewdef(c.oid) as definition
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1) and c.relkind in ('v', 'm')
  union all
  select 'function ' || p.oid::regprocedure::text, pg_get_functiondef(p.oid)
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = any($1) and p.prokind in ('f', 'p')
  union all
  select 'enum ' || n.nspname || '.' || t.typname, string_agg(e.enumlabel, ', ' order by e.enumsortorder)
  from pg_type t join pg_namespace n on n.oid = t.typnamespace join pg_enum e on e.enumtypid = t.oid
  where n.nspname = any($1)
  group by n.nspname, t.typname
  union all
  select 'domain ' || n.nspname || '.' || t.typname, format_type(t.typbasetype, t.typtypmod)
  from pg_type t join pg_namespace n on n.oid = t.typnamespace
  where n.nspname = any($1) and t.typtype = 'd'
  union all
  select 'sequence ' || n.nspname || '.' || c.relname,
    format('%s from %s by %s up to %s', format_type(s.seqtypid, null), s.seqstart, s.seqincrement, s.seqmax)
  from pg_sequence s join pg_class c on c.oid = s.seqrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1) and not c.relname like 'migrations%'
  order by 1`;

/** Reads what is in the schemas of a database. */
export async function readCatalog(client: pg.ClientBase, schemas: readonly string[]): Promise<Catalog> {
  const rowsOf = async (statement: string) => (await client.query<Row>(statement, [schemas])).rows;
  // Names in definitions are then always with their schema, and the owner's role does not matter.
  await client.query(`set search_path = ''`);
  const columns = (await client.query<Row & { nullable: boolean; default: string | null }>(COLUMNS, [schemas])).rows;
  const others = await rowsOf(OTHERS);
  const tables: Catalog['tables'] = {};
  for (const { table: name, name: columnName, definition, nullable, default: value } of columns) {
    const entry = (tables[name] ??= { columns: {} });
    entry.columns[columnName] = {
      type: definition,
      ...(nullable && { nullable: true as const }),
      ...(value !== null && { default: value }),
    };
  }
  // Of tables: views are among the others.
  const byTable = (rows: readonly Row[]) =>
    rows.flatMap(({ table: name, ...row }) => (tables[name] === undefined ? [] : [[tables[name], row] as const]));
  for (const [entry, { name, ...constraint }] of byTable(await rowsOf(CONSTRAINTS)))
    (entry.constraints ??= {})[name] = constraint;
  for (const [entry, { name, ...index }] of byTable(await rowsOf(INDEXES))) (entry.indexes ??= {})[name] = index;
  for (const [entry, { name, definition }] of byTable(await rowsOf(TRIGGERS)))
    (entry.triggers ??= {})[name] = definition;
  return { tables, others: Object.fromEntries(others.map(({ name, definition }) => [name, definition])) };
}
