import { type Knex, query } from '@tocsin/postgres';

/** Of each table. Each is a part of the cost of planning a statement. */
export const PARTITIONS = 16;

/**
 * Partitions empty tables of the current schema by hash of the workspace, in one transaction. A table keeps the names of its
 * columns, indexes and constraints; those of the partitions have the name of the table's and `_p` with the number.
 * @returns the tables that were not partitioned yet
 * @throws Error that names a table that does not exist, has rows, or has a key that does not begin with the workspace
 */
export async function partitionTables(
  database: Knex,
  tables: readonly string[],
  partitions: number,
): Promise<string[]> {
  return database.transaction(async (trx) => {
    const execute = async (statements: readonly string[]) => {
      for (const text of statements) await query(trx, { text });
    };
    const described: Table[] = [];
    for (const name of tables) described.push(...(await describe(trx, name)));
    const names = described.map(({ name }) => name);
    const references = await query<Reference>(trx, { text: REFERENCES, values: [names] });
    await execute(references.map(({ table, name }) => `alter table ${table} drop constraint ${name}`));
    for (const table of described) await execute(partitionStatements(table, partitions));
    await execute(references.map(({ table, name, definition }) => add(table, { name, definition })));
    for (const { text } of await query<{ text: string }>(trx, { text: RENAMES, values: [names] }))
      await query(trx, { text });
    return names;
  });
}

/** A constraint, with its definition as PostgreSQL shows it. */
interface Constraint {
  name: string;
  definition: string;
}

interface Reference extends Constraint {
  table: string;
}

interface Table {
  name: string;
  comment: string | null;
  /** Storage parameters, which partitions have and a partitioned table has not. */
  options: string | null;
  /** Sequences by the columns that own them. */
  sequences: readonly { name: string; column: string }[];
  /** Primary and unique keys. */
  keys: readonly Constraint[];
  /** Statements that create the other indexes, the extended statistics and the grants. */
  indexes: readonly string[];
  statistics: readonly string[];
  grants: readonly string[];
}

/** Foreign keys of the tables and to them. */
const REFERENCES = `
  select conrelid::regclass::text as "table", quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
  from pg_constraint
  where contype = 'f' and conparentid = 0
    and (conrelid = any($1::text[]::regclass[]) or confrelid = any($1::text[]::regclass[]))
  order by conrelid, conname`;

const KEYS_OF_OTHERS = `
  select index.indexrelid::regclass::text as name
  from pg_index as index
  where index.indrelid = $1::regclass and index.indisunique
    and index.indkey[0] is distinct from (
      select attnum from pg_attribute where attrelid = index.indrelid and attname = 'workspace_id')
  order by 1`;

const DESCRIPTION = `
  select quote_ident($1) as name, quote_literal(obj_description(t.oid, 'pg_class')) as comment,
    array_to_string(t.reloptions, ', ') as options,
    array(
      select jsonb_build_object('name', s.oid::regclass, 'column', quote_ident(a.attname))
      from pg_depend as d join pg_class as s on s.oid = d.objid and s.relkind = 'S'
      join pg_attribute as a on a.attrelid = t.oid and a.attnum = d.refobjsubid
      where d.refobjid = t.oid and d.classid = 'pg_class'::regclass and d.deptype = 'a') as sequences,
    array(
      select jsonb_build_object('name', quote_ident(conname), 'definition', pg_get_constraintdef(oid))
      from pg_constraint where conrelid = t.oid and contype in ('p', 'u') order by conname) as keys,
    array(
      select pg_get_indexdef(indexrelid) from pg_index
      where indrelid = t.oid and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
      order by indexrelid) as indexes,
    array(select pg_get_statisticsobjdef(oid) from pg_statistic_ext where stxrelid = t.oid order by oid) as statistics,
    array(
      select format('grant %s on %s to %s', privilege_type, t.oid::regclass,
        case grantee when 0 then 'public' else grantee::regrole::text end)
      from aclexplode(t.relacl) where grantee <> t.relowner) as grants
  from pg_class as t where t.oid = $1::regclass`;

/** Gives the indexes and keys of partitions the names of those that they are parts of. */
const RENAMES = `
  select format('alter index %s rename to %I', part.oid::regclass,
    left(whole.relname, 59) || substring(partition.relname from '_p[0-9]+$')) as text
  from pg_index as index
  join pg_class as whole on whole.oid = index.indexrelid
  join pg_inherits on inhparent = whole.oid
  join pg_class as part on part.oid = inhrelid
  join pg_index as index_of_part on index_of_part.indexrelid = part.oid
  join pg_class as partition on partition.oid = index_of_part.indrelid
  where index.indrelid = any($1::text[]::regclass[])`;

/** Locks the table, and describes it unless it is partitioned. */
async function describe(trx: Knex.Transaction, name: string): Promise<Table[]> {
  const [current] = await query<{ kind: string }>(trx, {
    text: `select relkind::text as kind from pg_class where relname = $1 and relnamespace = current_schema()::regnamespace`,
    values: [name],
  });
  if (current?.kind === 'p') return [];
  if (current?.kind !== 'r') throw new Error(`there is no table ${name}`);
  await trx.raw('lock table ?? in access exclusive mode', [name]);
  const { rows: some } = await trx.raw<{ rows: unknown[] }>('select from ?? limit 1', [name]);
  if (some.length > 0)
    throw new Error(`the table ${name} has rows: only an installation without data can be partitioned`);
  const others = await query<{ name: string }>(trx, { text: KEYS_OF_OTHERS, values: [name] });
  if (others.length > 0)
    throw new Error(
      `the table ${name} has keys that do not begin with workspace_id (${others.map((key) => key.name).join(', ')})`,
    );
  return query<Table>(trx, { text: DESCRIPTION, values: [name] });
}

const add = (table: string, { name, definition }: Constraint) =>
  `alter table ${table} add constraint ${name} ${definition}`;

/**
 * The partitions are made of the table first, with indexes and statistics, which those of the partitioned table become the
 * wholes of.
 */
function partitionStatements(table: Table, partitions: number): string[] {
  const { name, comment, options, sequences, keys, indexes, statistics, grants } = table;
  const numbers = Array.from({ length: partitions }, (_, number) => number);
  const partition = (number: number) => `${name}_p${String(number).padStart(2, '0')}`;
  return [
    ...numbers.map(
      (number) =>
        `create table ${partition(number)} (like ${name} including all) ${options === null ? '' : `with (${options})`}`,
    ),
    `create table ${name}_whole (like ${name} including all excluding indexes excluding statistics)
       partition by hash (workspace_id)`,
    ...sequences.map((sequence) => `alter sequence ${sequence.name} owned by none`),
    `drop table ${name}`,
    `alter table ${name}_whole rename to ${name}`,
    ...sequences.map((sequence) => `alter sequence ${sequence.name} owned by ${name}.${sequence.column}`),
    ...numbers.map(
      (number) =>
        `alter table ${name} attach partition ${partition(number)}
           for values with (modulus ${partitions}, remainder ${number})`,
    ),
    ...keys.map((key) => add(name, key)),
    ...indexes,
    ...statistics,
    ...grants,
    ...(comment === null ? [] : [`comment on table ${name} is ${comment}`]),
  ];
}
