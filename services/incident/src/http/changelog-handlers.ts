import { type Cursors, cursorsOf, DEFAULT_LIMIT, paginate } from '@tocsin/http';
import { type ChangelogEntry, changelogStore } from '../store/changelog-store.ts';
import { incidentStore } from '../store/incident-store.ts';
import type { Dependencies } from '../usecases/context.ts';
import type { ChangelogEntryWire } from './changelog-wire.ts';
import type { IncidentApi } from './contracts.ts';

export const changelogHandlers = ({
  dependencies: { database },
  cursors,
}: {
  dependencies: Dependencies;
  cursors: Cursors;
}): Pick<IncidentApi, 'listIncidentChangelog'> => {
  const entryCursors = cursorsOf(cursors, { name: 'id', keys: ['integer'] });
  return {
    listIncidentChangelog: async ({ principal, params: { id }, query: { limit = DEFAULT_LIMIT, cursor } }) => {
      const workspaceId = principal.workspace.id;
      const scope = { workspaceId, path: `/api/v1/incidents/${id}/changelog` };
      const [before] = cursor === undefined ? [] : entryCursors.decode(cursor, scope);
      await incidentStore(database, workspaceId).get(id);
      const { page, pagination } = paginate({
        rows: await changelogStore(database).listNewest({ incidentId: id, limit: limit + 1, before }),
        limit,
        nextCursor: (last) => entryCursors.encode([last.id], scope),
      });
      return { body: { changelog: page.map(entryView), pagination } };
    },
  };
};

const entryView = (entry: ChangelogEntry): ChangelogEntryWire => ({
  id: entry.id,
  incident_id: entry.incidentId,
  revision: entry.revision,
  actor: entry.actor,
  changed_at: entry.changedAt,
  changes: [...entry.changes],
});
