import { buildPage, type Cursors, cursorsOf, DEFAULT_LIMIT } from '@tocsin/http';
import { shortenChanges } from '../domain/large-changes.ts';
import { type ChangelogEntry, changelogStore } from '../store/changelog-store.ts';
import { incidentStore } from '../store/incident-store.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { ChangelogEntryWire } from './changelog-wire.ts';
import type { ChangelogApi } from './contracts.ts';

export const changelogHandlers = ({
  dependencies: { database },
  cursors,
}: {
  dependencies: Dependencies;
  cursors: Cursors;
}): ChangelogApi => {
  const entryCursors = cursorsOf(cursors, { name: 'id', keys: ['integer'] });
  return {
    listIncidentChangelog: async ({ principal, params: { id }, query: { limit = DEFAULT_LIMIT, cursor } }) => {
      const workspaceId = principal.workspace.id;
      const scope = { workspaceId, path: `/api/v1/incidents/${id}/changelog` };
      const [before] = cursor === undefined ? [] : entryCursors.decode(cursor, scope);
      await incidentStore(database, workspaceId).get(id);
      const store = changelogStore(database);
      const { rows, pagination } = await buildPage({
        listed: await store.listNewest({ incidentId: id, limit: limit + 1, before }),
        limit,
        whole: (listed) => withShortChanges(store.readWhole(listed)),
        view: entryView,
        nextCursor: (last) => entryCursors.encode([last.id], scope),
      });
      return { body: { changelog: rows, pagination } };
    },
  };
};

/** A page ends after it has read this many bytes of changes: of large ones, it shows only the digests. */
const MAX_READ_BYTES = 16_777_216;

async function* withShortChanges(
  entries: Iterable<ChangelogEntry | undefined> | AsyncIterable<ChangelogEntry | undefined>,
) {
  let read = 0;
  for await (const entry of entries) {
    const { changes, bytes } = shortenChanges(entry?.changes ?? []);
    yield entry && { ...entry, changes };
    read += bytes;
    if (read > MAX_READ_BYTES) return;
  }
}

const entryView = (entry: ChangelogEntry): ChangelogEntryWire => ({
  id: entry.id,
  incident_id: entry.incidentId,
  revision: entry.revision,
  actor: entry.actor,
  api_key: entry.keyName === null || entry.keyPrefix === null ? null : { name: entry.keyName, prefix: entry.keyPrefix },
  changed_at: entry.changedAt,
  changes: [...entry.changes],
});
