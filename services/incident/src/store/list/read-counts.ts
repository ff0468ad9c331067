import type { Knex } from '@tocsin/runtime';
import { conditions, statusCondition } from './conditions.ts';
import { customConditions } from './custom-conditions.ts';
import type { ListQuestion } from './question.ts';
import { all, run, sql } from './sql.ts';

/** How many incidents of each status a list would show without its filters by status. */
export async function countByStatus(db: Knex, question: ListQuestion): Promise<Map<string, number>> {
  const rows = await run<{ status: string; incidents: number }>(
    db,
    sql`select i.status, count(*) as incidents from incidents as i
        where ${all([...conditions(question, 'shown'), ...customConditions(question)])} group by i.status`,
  );
  return new Map(rows.map(({ status, incidents }) => [status, incidents]));
}

/** How many incidents the workspace's history limit keeps from a list. */
export async function countRestricted(db: Knex, question: ListQuestion): Promise<number> {
  if (question.visibleFrom === null) return 0;
  const [row] = await run<{ incidents: number }>(
    db,
    sql`select count(*) as incidents from incidents as i
        where ${all([...conditions(question, 'restricted'), ...customConditions(question), ...statusCondition(question)])}`,
  );
  return row?.incidents ?? 0;
}
