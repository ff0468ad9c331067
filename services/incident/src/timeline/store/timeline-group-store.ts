import { fold } from '@tocsin/schemas';
import { invalidState } from '@tocsin/http';
import { brokenConstraint, type Knex, query } from '@tocsin/postgres';

export interface TimelineGroup {
  id: number;
  name: string;
}

/** Stores the timeline groups of one workspace, over a pool or a transaction. */
export function timelineGroupStore(db: Knex, workspaceId: number) {
  return {
    /** Returns the groups in their order. */
    list: async (): Promise<TimelineGroup[]> =>
      query<TimelineGroup>(db, {
        name: 'list-timeline-groups',
        text: 'select id, name from timeline_groups where workspace_id = $1 order by rank, id',
        values: [workspaceId],
      }),

    /** Counts the events of those of these groups that have some. */
    countEvents: async (ids: readonly number[]): Promise<{ id: number; count: number }[]> =>
      ids.length === 0
        ? []
        : query<{ id: number; count: number }>(db, {
            text: `select group_id as id, count(*) as count from timeline_events
              where workspace_id = $1 and group_id = any((select $2::bigint[])::bigint[])
              group by group_id order by group_id`,
            values: [workspaceId, ids],
          }),

    /**
     * Replaces the workspace's groups by these, in this order.
     * @throws DomainError `invalid_resource_state` if a removed group has events
     */
    async replace(requested: readonly TimelineGroup[]): Promise<void> {
      const ids = requested.map(({ id }) => id);
      try {
        await query(db, {
          text: 'delete from timeline_groups where workspace_id = $1 and id <> all((select $2::bigint[])::bigint[])',
          values: [workspaceId, ids],
        });
      } catch (error) {
        if (brokenConstraint(error) !== 'timeline_events_group') throw error;
        throw invalidState('A group with timeline events cannot be removed');
      }
      if (requested.length === 0) return;
      await query(db, {
        text: `insert into timeline_groups (workspace_id, id, name, name_folded, rank)
          select $1::bigint, id, name, name_folded, place - 1
          from unnest((select $2::bigint[]), (select $3::text[]), (select $4::text[])) with ordinality
            as requested (id, name, name_folded, place)
          on conflict (workspace_id, id) do update
            set name = excluded.name, name_folded = excluded.name_folded, rank = excluded.rank`,
        values: [workspaceId, ids, requested.map(({ name }) => name), requested.map(({ name }) => fold(name))],
      });
    },
  };
}
