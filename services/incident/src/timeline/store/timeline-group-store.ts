import { fold } from '@tocsin/schemas';
import { invalidState } from '@tocsin/http';
import { brokenConstraint, type Knex } from '@tocsin/postgres';

export interface TimelineGroup {
  id: number;
  name: string;
}

/** Stores the timeline groups of one workspace, over a pool or a transaction. */
export function timelineGroupStore(db: Knex, workspaceId: number) {
  const groups = () => db('timeline_groups').where('workspace_id', workspaceId);
  return {
    /** Returns the groups in their order. */
    list: async (): Promise<TimelineGroup[]> => groups().select<TimelineGroup[]>('id', 'name').orderBy(['rank', 'id']),

    /** Counts the events of those of these groups that have some. */
    countEvents: async (ids: readonly number[]): Promise<{ id: number; count: number }[]> =>
      ids.length === 0
        ? []
        : db('timeline_events')
            .where('workspace_id', workspaceId)
            .whereIn('group_id', ids)
            .groupBy('group_id')
            .orderBy('group_id')
            .select<{ id: number; count: number }[]>('group_id as id', db.raw('count(*) as count')),

    /**
     * Replaces the workspace's groups by these, in this order.
     * @throws DomainError `invalid_resource_state` if a removed group has events
     */
    async replace(requested: readonly TimelineGroup[]): Promise<void> {
      const ids = requested.map(({ id }) => id);
      try {
        await groups().whereNotIn('id', ids).delete();
      } catch (error) {
        if (brokenConstraint(error) !== 'timeline_events_group') throw error;
        throw invalidState('A group with timeline events cannot be removed');
      }
      if (requested.length === 0) return;
      await db('timeline_groups')
        .insert(
          requested.map(({ id, name }, rank) => ({
            workspace_id: workspaceId,
            id,
            name,
            name_folded: fold(name),
            rank,
          })),
        )
        .onConflict(['workspace_id', 'id'])
        .merge(['name', 'name_folded', 'rank']);
    },
  };
}
