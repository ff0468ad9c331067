import { type Knex, query } from '@tocsin/postgres';

/** What an incident's row says about its timeline, where it is wrong. */
export interface WrongSummary {
  id: number;
  workspaceId: number;
}

/** Incidents in one statement. */
const BATCH = 2_000;

/**
 * The incidents of a batch whose number of events or time of the last event is wrong. One statement, so that no change
 * comes between the two that it compares.
 */
const FIND_WRONG = `
  with batch as (
    select id, workspace_id, event_count, last_event_at from incidents where id < $1 order by id desc limit $2
  ), counted as (
    select batch.id, batch.workspace_id,
      events.count is distinct from batch.event_count or events.last is distinct from batch.last_event_at as wrong
    from batch cross join lateral (
      select count(id) as count, max(started_at) as last from timeline_events where incident_id = batch.id
    ) as events
  )
  select (select min(id) from batch) as next, (select count(id) from batch) as checked,
    coalesce(jsonb_agg(jsonb_build_object('id', id, 'workspaceId', workspace_id)) filter (where wrong), '[]') as wrong
  from counted`;

/** Compares what incidents say about their timelines with the timelines. */
export function summaryStore(db: Knex) {
  return {
    /** The next batch of incidents, newest first. `next` is undefined after the last one. */
    async findWrong(before: number): Promise<{ next: number | undefined; checked: number; wrong: WrongSummary[] }> {
      const [row] = await query<{ next: number | null; checked: number; wrong: WrongSummary[] }>(db, {
        text: FIND_WRONG,
        values: [before, BATCH],
      });
      const { next = null, checked = 0, wrong = [] } = row ?? {};
      return { next: checked < BATCH ? undefined : (next ?? undefined), checked, wrong };
    },

    /** Writes what an incident, which the transaction has locked, says about its timeline. */
    async recount(id: number, last: { startedAt: string; summary: string } | undefined): Promise<void> {
      await query(db, {
        text: `update incidents
          set event_count = (select count(id) from timeline_events where incident_id = $1), last_event_at = $2,
            last_event_summary = $3
          where id = $1`,
        values: [id, last?.startedAt ?? null, last?.summary ?? ''],
      });
    },
  };
}
