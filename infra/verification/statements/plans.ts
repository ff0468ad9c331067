import type { Knex } from '@tocsin/postgres';
import type { Statement } from './record-statements.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Filter?: string;
  Plans?: PlanNode[];
}

interface Connection {
  query(text: string, values?: unknown[]): Promise<{ rows: { 'QUERY PLAN': [{ Plan: PlanNode }] }[] }>;
}

/**
 * Returns the tables that a statement scans fully according to its plan, and the indexes that it scans without a
 * condition and without a limit. Also checks the generic plan of prepared statements.
 */
export async function fullScans(database: Knex, { text, values, name }: Statement): Promise<Set<string>> {
  return database.transaction(async (trx) => {
    const connection = (await (
      trx.client as { acquireConnection(): Promise<unknown> }
    ).acquireConnection()) as Connection;
    // The transaction begins with its first statement.
    await trx.raw('select 1');
    const plans = [await connection.query(`explain (format json) ${text}`, values)];
    if (name !== undefined) {
      await connection.query('set local plan_cache_mode = force_generic_plan');
      await connection.query(`prepare examined as ${text}`);
      const nulls = values.length === 0 ? '' : `(${values.map(() => 'null').join(', ')})`;
      plans.push(await connection.query(`explain (format json) execute examined${nulls}`));
      await connection.query('deallocate examined');
    }
    return new Set(plans.flatMap(({ rows }) => [...readsOf(rows[0]?.['QUERY PLAN'][0].Plan)]));
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
