import { invalid } from '@tocsin/http';
import { brokenConstraint, type Knex } from '@tocsin/runtime';
import { fold } from '../domain/fold.ts';

export interface TimelineGroup {
  id: number;
  name: string;
}

/** The timeline groups of one workspace, over a pool or a transaction. */
export function timelineGroupStore(db: Knex, workspaceId: number) {
  const groups = () => db('timeline_groups').where('workspace_id', workspaceId);
  return {
    /** In their order. */
    list: async (): Promise<TimelineGroup[]> => groups().select<TimelineGroup[]>('id', 'name').orderBy(['rank', 'id']),

    /** Of these groups, the first that events are still in. */
    async findUsed(ids: readonly number[]): Promise<number | undefined> {
      const row = await db('timeline_events')
        .where('workspace_id', workspaceId)
        .whereIn('group_id', ids)
        .first<{ group_id: number } | undefined>('group_id');
      return row?.group_id;
    },

    /**
     * Makes these the workspace's groups, in this order.
     * @throws DomainError `invalid_request` when an event has come into one of the others
     */
    async replace(wanted: readonly TimelineGroup[]): Promise<void> {
      const ids = wanted.map(({ id }) => id);
      try {
        await groups().whereNotIn('id', ids).delete();
      } catch (error) {
        if (brokenConstraint(error) !== 'timeline_events_group') throw error;
        throw invalid('timeline_groups', 'A group cannot be removed: timeline events are in it');
      }
      if (wanted.length === 0) return;
      await db('timeline_groups')
        .insert(
          wanted.map(({ id, name }, rank) => ({ workspace_id: workspaceId, id, name, name_folded: fold(name), rank })),
        )
        .onConflict(['workspace_id', 'id'])
        .merge(['name', 'name_folded', 'rank']);
    },
  };
}
