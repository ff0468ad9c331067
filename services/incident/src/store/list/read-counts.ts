import type { Knex } from '@tocsin/runtime';
import { conditions, statusCondition } from './conditions.ts';
import { customConditions } from './custom-conditions.ts';
import { narrow } from './narrow.ts';
import type { ListQuestion } from './question.ts';
import { all, run, sql } from './sql.ts';

/** How many incidents of each status a list would show without its filters by status. */
export async function countByStatus(db: Knex, question: ListQuestion): Promise<Map<string, number>> {
  const { question: rest, conditions: found } = await narrow(db, question);
  const met = [...conditions(rest, 'shown'), ...customConditions(rest), ...found];
  const rows = await run<{ status: string; incidents: number }>(
    db,
    sql`select i.status, count(*) as incidents from incidents as i
        where ${all(met)} group by i.status`,
  );
  return new Map(rows.map(({ status, incidents }) => [status, incidents]));
}

/** How many incidents the workspace's history limit keeps from a list. */
export async function countRestricted(db: Knex, question: ListQuestion): Promise<number> {
  if (question.visibleFrom === null) return 0;
  const { question: rest, conditions: found } = await narrow(db, question);
  const left = conditions(rest, 'restricted');
  const met = [...left, ...customConditions(rest), ...statusCondition(rest), ...found];
  const [row] = await run<{ incidents: number }>(
    db,
    sql`select count(*) as incidents from incidents as i
        where ${all(met)}`,
  );
  return row?.incidents ?? 0;
}
