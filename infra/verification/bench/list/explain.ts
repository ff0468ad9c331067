import { type Knex, runOnce } from '@tocsin/postgres';
import type { Statement } from '../../statements/record-statements.ts';

/** The cost of one or several statements. */
export interface Cost {
  /** Milliseconds, the minimum of several runs, which excludes other load on the machine. */
  execution: number;
  planning: number;
  /** Pages of 8 KiB, from Postgres's cache or not. */
  pages: number;
  indexes: string[];
}

interface PlanNode {
  'Index Name'?: string;
  'Node Type': string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

interface Plan {
  Plan: PlanNode;
  'Planning Time': number;
  'Execution Time': number;
}

/** Runs the statements with EXPLAIN (ANALYZE, BUFFERS), a few times. */
export async function costOf(database: Knex, statements: readonly Statement[], runs: number): Promise<Cost> {
  const costs: Cost[] = [];
  for (const statement of statements) costs.push(await costOfOne(database, statement, runs));
  return {
    execution: sum(costs.map(({ execution }) => execution)),
    planning: sum(costs.map(({ planning }) => planning)),
    pages: sum(costs.map(({ pages }) => pages)),
    indexes: [...new Set(costs.flatMap(({ indexes }) => indexes))],
  };
}

async function costOfOne(database: Knex, { text, values }: Statement, runs: number): Promise<Cost> {
  const plans: Plan[] = [];
  for (let run = 0; run < runs; run += 1) {
    const [row] = await runOnce<{ 'QUERY PLAN': [Plan] }>(
      database,
      `explain (analyze, buffers, format json) ${text}`,
      values,
    );
    if (row !== undefined) plans.push(row['QUERY PLAN'][0]);
  }
  const [first] = plans;
  if (first === undefined) throw new Error('a statement has to run at least once');
  return {
    execution: Math.min(...plans.map((plan) => plan['Execution Time'])),
    planning: Math.min(...plans.map((plan) => plan['Planning Time'])),
    pages: first.Plan['Shared Hit Blocks'] + first.Plan['Shared Read Blocks'],
    indexes: [...indexesOf(first.Plan)],
  };
}

function* indexesOf(node: PlanNode): Generator<string> {
  if (node['Index Name'] !== undefined) yield node['Index Name'];
  else if (node['Node Type'] === 'Seq Scan') yield 'whole table';
  for (const inner of node.Plans ?? []) yield* indexesOf(inner);
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
