import { notFound, REPLAYED_HEADER, type Reply, type Route } from '@tocsin/http';
import { type Knex, query } from '@tocsin/postgres';
import type { Clock } from '@tocsin/runtime';
import { recordAccess } from '../visibility/store/access-store.ts';
import { visible } from '../visibility/store/visible.ts';
import { currentViewer, takeReads } from '../visibility/store/viewer.ts';
import { incidentIdsIn } from './incident-ids.ts';

/**
 * Adds to the operations what concerns restricted incidents: a read is recorded before it is answered, and a stored answer is
 * repeated only to those who may see its incidents now.
 */
export const visibleRoutes = (routes: readonly Route[], { database, clock }: { database: Knex; clock: Clock }) =>
  routes.map((route): Route => {
    if (route.method !== 'get' && route.idempotent !== true) return route;
    return {
      ...route,
      handle: async (request) => {
        const reply = await route.handle(request);
        const incidentIds = takeReads();
        if (route.method === 'get' && incidentIds.length > 0) {
          await recordAccess(database, request.principal, { incidentIds, now: clock.now() });
        }
        if (reply.headers?.[REPLAYED_HEADER] === 'true') {
          const { id } = request.params as { id?: number };
          const isOfIncident = route.path.startsWith('/api/v1/incidents/{id}') && id !== undefined;
          const ids = [...incidentIdsIn(bodyOf(reply)), ...(isOfIncident ? [id] : [])];
          await checkVisible(database, request.principal.workspace.id, ids);
        }
        return reply;
      },
    };
  });

const bodyOf = ({ body, text = 'null' }: Reply): unknown => body ?? (JSON.parse(text) as unknown);

/** @throws DomainError `not_found` unless the request may see all of these incidents that exist */
async function checkVisible(database: Knex, workspaceId: number, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const hidden = await query(database, {
    name: 'find-hidden-incidents',
    text: `select id from incidents
      where workspace_id = $1 and id = any((select $2::bigint[])::bigint[]) and not ${visible('incidents', 3)} limit 1`,
    values: [workspaceId, [...new Set(ids)], currentViewer()],
  });
  if (hidden.length > 0) throw notFound('The incident');
}
