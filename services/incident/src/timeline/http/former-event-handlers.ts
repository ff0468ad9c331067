import { buildPage, type Cursors, cursorsOf, DEFAULT_LIMIT } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { incidentStore } from '../../incidents/store/incident-store.ts';
import { formerEventStore } from '../store/former-event-store.ts';
import { timelineStore } from '../store/timeline-store.ts';
import type { TimelineApi } from './contracts.ts';
import { formerEventView } from './views.ts';

/** Lists former revisions of events and deleted events. */
export function formerEventHandlers({
  database,
  cursors,
}: {
  database: Knex;
  cursors: Cursors;
}): Pick<TimelineApi, 'listTimelineEventRevisions' | 'listDeletedTimelineEvents'> {
  const formerCursors = cursorsOf(cursors, { name: 'seq', keys: ['integer'] });
  const formerPage = async (
    { of, ...scope }: { workspaceId: number; path: string; of: { eventId: number } | { incidentId: number } },
    { limit = DEFAULT_LIMIT, cursor }: { limit?: number | undefined; cursor?: string | undefined },
  ) => {
    const [before] = cursor === undefined ? [] : formerCursors.decode(cursor, scope);
    const store = formerEventStore(database, scope.workspaceId);
    const { rows, pagination } = await buildPage({
      listed: await store.list(of, { limit: limit + 1, before }),
      limit,
      whole: store.readWhole,
      view: formerEventView,
      nextCursor: ({ id }) => formerCursors.encode([id], scope),
    });
    return { body: { former: rows, pagination } };
  };
  return {
    listTimelineEventRevisions: async ({ principal, params: { id }, query }) => {
      const { id: workspaceId } = principal.workspace;
      await timelineStore(database, workspaceId).getIncidentId(id);
      return formerPage({ workspaceId, path: `/api/v1/timeline/${id}/revisions`, of: { eventId: id } }, query);
    },

    listDeletedTimelineEvents: async ({ principal, params: { id }, query }) => {
      const { id: workspaceId } = principal.workspace;
      await incidentStore(database, workspaceId).getVersion(id);
      return formerPage(
        { workspaceId, path: `/api/v1/incidents/${id}/timeline/deleted`, of: { incidentId: id } },
        query,
      );
    },
  };
}
