import { type Knex, query } from '@tocsin/postgres';
import type { Statement } from './record-statements.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Filter?: string;
  /** If it was executed: how often, and the average of a loop. */
  'Actual Loops'?: number;
  'Actual Rows'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: PlanNode[];
}

/**
 * Returns the tables that a statement scans fully according to its plan, and the indexes that it scans without a
 * condition and without a limit. Also checks the generic plan of prepared statements.
 */
export async function fullScans(database: Knex, { text, values, name }: Statement): Promise<Set<string>> {
  return database.transaction(async (trx) => {
    const explain = async (sql: string, bound: unknown[] = []) =>
      query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(trx, { text: `explain (format json) ${sql}`, values: bound });
    const plans = [await explain(text, values)];
    if (name !== undefined) {
      await query(trx, { text: 'set local plan_cache_mode = force_generic_plan' });
      await query(trx, { text: `prepare examined as ${text}` });
      const nulls = values.length === 0 ? '' : `(${values.map(() => 'null').join(', ')})`;
      plans.push(await explain(`execute examined${nulls}`));
      await query(trx, { text: 'deallocate examined' });
    }
    return new Set(plans.flatMap(([row]) => [...readsOf(row?.['QUERY PLAN'][0].Plan)]));
  });
}

/**
 * Executes a statement that reads. Returns the joins that compare all rows of one side with all of the other, the tables
 * that are scanned for each row of another without a condition of an index, and the scans that read more than `most` rows.
 */
export async function readsInVain(database: Knex, { text, values }: Statement, most: number): Promise<Set<string>> {
  const [row] = await query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(database, {
    text: `explain (analyze, timing off, format json) ${text}`,
    values,
  });
  return new Set(vainReadsOf(row?.['QUERY PLAN'][0].Plan, most));
}

/**
 * Executes a statement, and undoes what it has written. Returns the tables that it has scanned, partitions by their names.
 * One that fails is only planned.
 */
export async function scannedTables(database: Knex, { text, values }: Statement): Promise<Set<string>> {
  return database.transaction(async (trx) => {
    const explain = async (options: string) =>
      query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(trx, { text: `explain (${options} format json) ${text}`, values });
    await query(trx, { text: 'savepoint executed' });
    const executed = await explain('analyze, timing off,').catch(() => undefined);
    await query(trx, { text: 'rollback to savepoint executed' });
    const [row] = executed ?? (await explain(''));
    return new Set(scansOf(row?.['QUERY PLAN'][0].Plan));
  });
}

function* scansOf(node: PlanNode | undefined): Generator<string> {
  if (node === undefined) return;
  const { 'Relation Name': table, 'Actual Loops': loops = 1 } = node;
  if (table !== undefined && loops > 0) yield table;
  for (const inner of node.Plans ?? []) yield* scansOf(inner);
}

function* vainReadsOf(node: PlanNode | undefined, most: number): Generator<string> {
  if (node === undefined) return;
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index = '', 'Index Cond': condition } = node;
  const { 'Actual Loops': loops = 0, 'Actual Rows': rows = 0, 'Rows Removed by Filter': filtered = 0 } = node;
  if ((node['Rows Removed by Join Filter'] ?? 0) > 0) yield `${type} compares rows of two tables`;
  if (table !== undefined) {
    const isScan = type === 'Seq Scan' || (type.startsWith('Index') && condition === undefined);
    if (isScan && loops > 1) yield `${type} of ${table} ${index} for each of ${loops} rows`;
    if (loops * (rows + filtered) > most) yield `${type} of ${table} ${index} reads ${loops * (rows + filtered)} rows`;
  }
  for (const inner of node.Plans ?? []) yield* vainReadsOf(inner, most);
}

/** PostgreSQL compares the first plans, which are for the values, with one for all values. */
const EXECUTIONS = 7;

let counted = 0;

/**
 * How often PostgreSQL plans a prepared statement that is executed seven times: five times, unless it finds plans for the
 * values better. Nothing that it writes lasts, and it may fail.
 */
export async function countCustomPlans(database: Knex, { text, values }: Statement): Promise<number> {
  const name = `counted-${(counted += 1)}`;
  return database.transaction(async (trx) => {
    await query(trx, { text: 'savepoint executed' });
    for (let execution = 0; execution < EXECUTIONS; execution += 1) {
      await query(trx, { name, text, values }).catch(() => undefined);
      await query(trx, { text: 'rollback to savepoint executed' });
    }
    const count = 'select custom_plans::int as count from pg_prepared_statements where name = $1';
    const [row] = await query<{ count: number }>(trx, { text: count, values: [name] });
    return row?.count ?? 0;
  });
}

function* readsOf(node: PlanNode | undefined, stopsEarly = false): Generator<string> {
  if (node === undefined) return;
  const { 'Node Type': type, 'Relation Name': table = '', 'Index Name': index = '', 'Index Cond': condition } = node;
  if (type === 'Seq Scan') yield table;
  else if (/^(Index|Index Only|Bitmap Index) Scan$/.test(type) && condition === undefined) {
    if (!stopsEarly || node.Filter !== undefined) yield `${table} by ${index}`;
  }
  // `Result` decides once whether to read at all.
  const isLimited = type === 'Limit' || (stopsEarly && (type === 'LockRows' || type === 'Result'));
  for (const inner of node.Plans ?? []) yield* readsOf(inner, isLimited);
}
