import { type Knex, query } from '@tocsin/postgres';
import { summaryOf } from './domain/timeline-event.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { summaryStore, type WrongSummary } from './store/summary-store.ts';
import { latestEvent } from './store/timeline-store.ts';

export const findWrongSummaries = async (
  database: Knex,
  before: WrongSummary,
): ReturnType<ReturnType<typeof summaryStore>['findWrong']> => summaryStore(database).findWrong(before);

/** Writes what an incident says about its timeline again, under the lock under which timelines change. */
export async function recountTimeline(database: Knex, { id, workspaceId }: WrongSummary): Promise<void> {
  await database.transaction(async (trx) => {
    await incidentStore(trx, workspaceId).getForUpdate(id);
    const [latest] = await query(trx, latestEvent(workspaceId, id));
    const last = latest && { startedAt: latest.startedAt, summary: summaryOf(latest) };
    await summaryStore(trx).recount({ id, workspaceId }, last);
  });
}
