import { type Cursors, DEFAULT_LIMIT, pageQuery, paginate, pathId, route } from '@tocsin/http';
import { z } from 'zod';
import { type ChangelogEntry, changelogStore } from '../store/changelog-store.ts';
import { incidentStore } from '../store/incident-store.ts';
import type { Tools } from '../usecases/context.ts';
import { type ChangelogEntryWire, changelogPage } from './changelog-wire.ts';

export function changelogRoutes({ tools: { database }, cursors }: { tools: Tools; cursors: Cursors }) {
  return [
    route({
      id: 'listIncidentChangelog',
      method: 'get',
      path: '/api/v1/incidents/{id}/changelog',
      summary: "What changed of an incident's properties, newest first",
      tag: 'Incidents',
      scope: 'incidents:read',
      params: z.strictObject({ id: pathId }),
      query: z.strictObject(pageQuery),
      reply: { status: 200, body: changelogPage },
      handle: async ({ principal, params: { id }, query: { limit = DEFAULT_LIMIT, cursor } }) => {
        const workspaceId = principal.workspace.id;
        const scope = { workspaceId, path: `/api/v1/incidents/${id}/changelog` };
        const [before] = cursor === undefined ? [] : (cursors.decode(cursor, scope) as [number]);
        await incidentStore(database, workspaceId).get(id);
        const { page, pagination } = paginate({
          rows: await changelogStore(database).listNewest({ incidentId: id, limit: limit + 1, before }),
          limit,
          nextCursor: (last) => cursors.encode([last.id], scope),
        });
        return { body: { changelog: page.map(entryView), pagination } };
      },
    }),
  ];
}

const entryView = (entry: ChangelogEntry): ChangelogEntryWire => ({
  id: entry.id,
  incident_id: entry.incidentId,
  revision: entry.revision,
  actor: entry.actor,
  changed_at: entry.changedAt,
  changes: [...entry.changes],
});
