import type { Knex } from '@tocsin/runtime';
import { conditions, statusCondition } from './conditions.ts';
import { customConditions } from './custom-conditions.ts';
import { type Narrowed, narrowTexts } from './narrow.ts';
import { all, run, sql } from './sql.ts';

/** What a list tells of the incidents that are not on its page. */
export interface Counts {
  /** How many incidents the workspace's history limit keeps from it. */
  restricted: number;
  /** How many incidents of each status it would show without its filters by status, where that is wanted. */
  byStatus: Map<string, number> | undefined;
}

export async function readCounts(
  db: Knex,
  asked: Narrowed,
  { byStatus: wantsStatuses }: { byStatus: boolean },
): Promise<Counts> {
  const isLimited = asked.question.visibleFrom !== null;
  if (!isLimited && !wantsStatuses) return { restricted: 0, byStatus: undefined };
  const narrowed = await narrowTexts(db, asked);
  const [restricted, byStatus] = await Promise.all([
    isLimited ? countRestricted(db, narrowed) : 0,
    wantsStatuses ? countByStatus(db, narrowed) : undefined,
  ]);
  return { restricted, byStatus };
}

async function countByStatus(db: Knex, { question, conditions: found }: Narrowed): Promise<Map<string, number>> {
  const rows = await run<{ status: string; incidents: number }>(
    db,
    sql`select i.status, count(*) as incidents from incidents as i
        where ${all([...conditions(question, 'shown'), ...customConditions(question), ...found])} group by i.status`,
  );
  return new Map(rows.map(({ status, incidents }) => [status, incidents]));
}

async function countRestricted(db: Knex, { question, conditions: found }: Narrowed): Promise<number> {
  const met = [...conditions(question, 'restricted'), ...customConditions(question), ...statusCondition(question)];
  const [row] = await run<{ incidents: number }>(
    db,
    sql`select count(*) as incidents from incidents as i
        where ${all([...met, ...found])}`,
  );
  return row?.incidents ?? 0;
}
