import type { Knex } from '@tocsin/postgres';
import { APP_NAMES, APPS } from '../../installation/apps.ts';
import { type Check, type Finding, ok, problem } from './check.ts';
import { REPLICAS, WITH_WORKSPACES } from './replicas.ts';

/**
 * The highest ID in a table whose key begins with the workspace: the last one of each workspace is read, since no index has
 * the IDs of all.
 */
const highestOf = (table: string, column: string) => {
  const last = (where = '') => `
    select workspace_id, ${column} as id from ${table} ${where} order by workspace_id desc, ${column} desc limit 1`;
  return `
    with recursive latest as (
      (${last()})
      union all
      select previous.workspace_id, previous.id from latest
      cross join lateral (${last('where workspace_id < latest.workspace_id')}) as previous
    ) select max(id) as id from latest`;
};

/** Where IDs of an owner's table (`source`) are known elsewhere: a sequence must not give them out again. */
const COPIES = [
  ...WITH_WORKSPACES.map(({ app: holder, table }) => ({
    ...{ app: 'gateway' as const, source: 'workspaces' },
    ...{ holder, query: `select max(workspace_id) as id from ${table}` },
  })),
  ...REPLICAS.flatMap(({ holder, owner, tables }) =>
    tables.map(({ table, source }) => ({
      ...{ app: owner.app, source },
      ...{ holder, query: highestOf(table, 'id') },
    })),
  ),
];

interface SequenceColumn {
  sequence: string;
  table: string;
  column: string;
  /** Whether the table has rows of workspaces. */
  isDivided: boolean;
}

/** The sequences of a schema with the columns that they fill. */
const COLUMNS = `
  select s.oid::regclass::text as sequence, t.oid::regclass::text as "table", a.attname as "column",
    exists (
      select from pg_attribute w
      join pg_index i on i.indrelid = w.attrelid and i.indisprimary and i.indkey[0] = w.attnum
      where w.attrelid = t.oid and w.attname = 'workspace_id') as "isDivided"
  from pg_class s
  join pg_depend d on d.objid = s.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')
  join pg_class t on t.oid = d.refobjid
  join pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
  where s.relkind = 'S' and s.relnamespace = current_schema()::regnamespace order by 1`;

/** Compares sequences with the IDs that exist, in the table itself and in the replicas of other services. */
export const SEQUENCE_CHECK: Check = {
  name: 'sequences',
  run: async ({ database }) => {
    const findings: Finding[] = [];
    let checked = 0;
    for (const app of APP_NAMES) {
      const db = database(app);
      const { rows } = await db.raw<{ rows: SequenceColumn[] }>(COLUMNS);
      for (const { sequence, table, column, isDivided } of rows) {
        checked += 1;
        const highest = await readId(
          db,
          isDivided ? highestOf(table, column) : `select max(${column}) as id from ${table}`,
        );
        const finding = await compare(db, { app: APPS[app].schema.name, sequence, highest, where: 'its table has' });
        if (finding !== undefined) findings.push(finding);
      }
    }
    for (const [source, copies] of Map.groupBy(COPIES, (copy) => copy.source)) {
      const copiedIds = await Promise.all(copies.map(async ({ holder, query }) => readId(database(holder), query)));
      const [{ app }] = copies as [(typeof COPIES)[number]];
      const finding = await compare(database(app), {
        app: APPS[app].schema.name,
        sequence: `${source}_id_seq`,
        highest: Math.max(...copiedIds),
        where: 'other services know',
      });
      if (finding !== undefined) findings.push(finding);
    }
    return findings.length === 0 ? [ok(`${checked} sequences are ahead of all IDs`)] : findings;
  },
};

async function readId(db: Knex, query: string): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ id: number | null }] }>(query);
  return rows[0].id ?? 0;
}

async function compare(
  db: Knex,
  { app, sequence, highest, where }: { app: string; sequence: string; highest: number; where: string },
): Promise<Finding | undefined> {
  const last = await readId(db, `select case when is_called then last_value else 0 end as id from ${sequence}`);
  if (last >= highest) return undefined;
  return problem(
    `${app}.${sequence} is at ${last}, and ${where} the ID ${highest}: IDs would be given out again`,
    async () => {
      // Only ever upwards: another process may have raised it meanwhile.
      await db.raw(
        `select setval('${sequence}', greatest(?::bigint, (select case when is_called then last_value else 1 end from ${sequence})))`,
        [highest],
      );
      return `${app}.${sequence} continues after ${highest}`;
    },
  );
}
