import { notFound, buildPage, invalidRequest, type Cursors, cursorsOf, DEFAULT_LIMIT } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { keyOf } from '../domain/acts.ts';
import { type Incident, numberOf } from '../domain/incident.ts';
import { incidentStore } from '../store/incident-store.ts';
import { type UpdateDependencies, updateIncident } from '../update-incident.ts';
import { toIncidentProperties } from './properties.ts';
import type { RenderedIncidents } from './rendered-incidents.ts';
import { incidentView } from './views.ts';
import type { IncidentApi, ChangelogApi } from './contracts.ts';
import { shortenChanges } from '../domain/changes.ts';
import { undoChanges } from '../domain/undo-changes.ts';
import { BY_IMPORT, type ChangelogEntry, changelogStore } from '../store/changelog-store.ts';
import type { ChangelogEntryWire } from './wire.ts';

export function incidentHandlers(dependencies: UpdateDependencies & { rendered: RenderedIncidents }): IncidentApi {
  const { database, clock, rendered } = dependencies;
  const incidentAt = async (incident: Incident, revision: number) => {
    if (revision > incident.revision) {
      throw invalidRequest('at_revision', `Must be at most ${incident.revision}, the current revision`);
    }
    const changes = await changelogStore(database, incident.workspaceId).findReplaced(incident.id, revision);
    return undoChanges(incident, { revision, changes });
  };
  return {
    getIncident: async ({ principal, params: { id }, query: { at_revision: revision } }) => {
      const store = incidentStore(database, principal.workspace.id);
      if (revision !== undefined) {
        // Read first: a change that is made in between is undone, too.
        const past = await incidentAt(await store.get(id), revision);
        return {
          body: { incident: incidentView(past.incident, clock.now()), not_recorded: past.notRecorded },
          revision,
        };
      }
      const version = rendered.keeps(id) ? await store.getVersion(id) : undefined;
      const incident = (version && rendered.find(version)) ?? (await store.get(id));
      return { body: { incident: rendered.json(incident, clock.now()) }, revision: incident.revision };
    },

    getIncidentByReference: async ({ principal, params: { reference } }) => {
      const number = numberOf(reference);
      if (number === undefined) throw notFound('The incident');
      const incident = await incidentStore(database, principal.workspace.id).getByNumber(number);
      return { body: { incident: incidentView(incident, clock.now()) }, revision: incident.revision };
    },

    updateIncident: async ({ principal, requestId, params: { id }, expectedRevision, body }) => {
      const changes = toIncidentProperties(body);
      const incident = await updateIncident(dependencies, { principal, requestId, id, expectedRevision, changes });
      return { body: { incident: incidentView(incident, clock.now()) }, revision: incident.revision };
    },
  };
}

export const changelogHandlers = ({ database, cursors }: { database: Knex; cursors: Cursors }): ChangelogApi => {
  const entryCursors = cursorsOf(cursors, { name: 'id', keys: ['integer'] });
  return {
    listIncidentChangelog: async ({
      principal,
      params: { id },
      query: { limit = DEFAULT_LIMIT, cursor, ...selection },
    }) => {
      const workspaceId = principal.workspace.id;
      const { order = 'desc', new_events: newEvents = true } = selection;
      const scope = {
        ...{ workspaceId, path: `/api/v1/incidents/${id}/changelog` },
        ...(Object.keys(selection).length > 0 && { filters: selection }),
      };
      const [after] = cursor === undefined ? [] : entryCursors.decode(cursor, scope);
      await incidentStore(database, workspaceId).get(id);
      const store = changelogStore(database, workspaceId);
      const { rows, pagination } = await buildPage({
        listed: await store.list({ incidentId: id, limit: limit + 1, after, order, newEvents }),
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
  api_key: keyOf(entry),
  changed_at: entry.changedAt,
  changes: [...entry.changes],
  imported: entry.importKey !== null && entry.importKey !== BY_IMPORT,
});
