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
    select id, workspace_id, event_count, last_event_at from incidents
    where (workspace_id, id) < ($1, $2) order by workspace_id desc, id desc limit $3
  ), counted as (
    select batch.id, batch.workspace_id,
      events.count is distinct from batch.event_count or events.last is distinct from batch.last_event_at as wrong
    from batch cross join lateral (
      select count(id) as count, max(started_at) as last from timeline_events
      where timeline_events.workspace_id = batch.workspace_id and incident_id = batch.id
    ) as events
  )
  select (
      select jsonb_build_object('id', id, 'workspaceId', workspace_id) from batch order by workspace_id, id limit 1
    ) as next, (select count(id) from batch) as checked,
    coalesce(jsonb_agg(jsonb_build_object('id', id, 'workspaceId', workspace_id)) filter (where wrong), '[]') as wrong
  from counted`;

/** Compares what incidents say about their timelines with the timelines. */
export function summaryStore(db: Knex) {
  return {
    /** The next batch of incidents, those of the newest workspaces first. `next` is undefined after the last one. */
    async findWrong(
      before: WrongSummary,
    ): Promise<{ next: WrongSummary | undefined; checked: number; wrong: WrongSummary[] }> {
      const [row] = await query<{ next: WrongSummary | null; checked: number; wrong: WrongSummary[] }>(db, {
        text: FIND_WRONG,
        values: [before.workspaceId, before.id, BATCH],
      });
      const { next = null, checked = 0, wrong = [] } = row ?? {};
      return { next: checked < BATCH ? undefined : (next ?? undefined), checked, wrong };
    },

    /** Writes what an incident, which the transaction has locked, says about its timeline. */
    async recount(
      { workspaceId, id }: WrongSummary,
      last: { startedAt: string; summary: string } | undefined,
    ): Promise<void> {
      await query(db, {
        text: `update incidents
          set event_count = (select count(id) from timeline_events where workspace_id = $1 and incident_id = $2),
            last_event_at = $3, last_event_summary = $4
          where workspace_id = $1 and id = $2`,
        values: [workspaceId, id, last?.startedAt ?? null, last?.summary ?? ''],
      });
    },
  };
}
