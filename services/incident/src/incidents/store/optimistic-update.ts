import { outboxRow, type NewEvent } from '@tocsin/messaging';
import { type Knex, query } from '@tocsin/postgres';
import { boundedCache, estimateHeapBytes } from '@tocsin/runtime';
import type { Incident } from '../domain/incident.ts';
import { type ChangelogEntry, changelogMapping } from './changelog-store.ts';
import { incidentStore, type VersionedIncident } from './incident-store.ts';
import { toColumns } from './incident-row.ts';

const KEPT_BYTES = 4 * 1_048_576;

/** Incidents as this process has read or written them last: an optimistic update need not read them again. */
export function keptIncidents(database: Knex) {
  const kept = boundedCache<number, VersionedIncident>({ bytes: KEPT_BYTES, sizeOf: estimateHeapBytes });
  return {
    /** The incident at a revision, as it is or was; undefined if it has another one now. */
    at: async (workspaceId: number, id: number, revision: number): Promise<VersionedIncident | undefined> => {
      const found = kept.get(id);
      if (found?.workspaceId === workspaceId && found.revision === revision) return found;
      const read = await incidentStore(database, workspaceId).find(id);
      return read?.revision === revision ? read : undefined;
    },
    keep: (incident: VersionedIncident) => kept.set(incident.id, incident),
  };
}

export type KeptIncidents = ReturnType<typeof keptIncidents>;

/**
 * Updates an incident that no transaction has locked, with an entry in its changelog and an event, if it still is the
 * version that was read. Returns the new version; otherwise nothing is written.
 */
export async function updateOptimistically(
  database: Knex,
  { before, properties, entry, event }: OptimisticUpdate,
): Promise<{ xmin: string } | undefined> {
  const { workspace_id: workspaceId, ...columns } = toColumns({ ...properties, workspaceId: before.workspaceId });
  const { actor, api_key_name, api_key_prefix, changed_at, changes } = changelogMapping.toRow(entry);
  const { message_id, type, body, trace_context } = outboxRow(event);
  const values = [
    ...[workspaceId, before.id, before.revision, before.xmin],
    ...[actor, api_key_name, api_key_prefix, changed_at, changes],
    ...[message_id, type, body, trace_context],
  ];
  const assignments = Object.keys(columns).map((name, index) => `${name} = $${values.length + index + 1}`);
  const text = `
    with changed as (
      update incidents set ${assignments.join(', ')}
      where workspace_id = $1 and id = $2 and revision = $3 and xmin = $4::xid
      returning id, workspace_id, revision, xmin as version
    ), entry as (
      insert into changelog (incident_id, revision, actor, api_key_name, api_key_prefix, changed_at, changes)
      select id, revision, $5::text, $6::text, $7::text, $8::timestamptz, $9::jsonb from changed
    ), event as (
      insert into outbox (message_id, workspace_id, type, body, trace_context)
      select $10::uuid, workspace_id, $11::text, $12::text, $13::text from changed
    )
    select version as xmin from changed`;
  const [version] = await query<{ xmin: string }>(database, {
    name: 'update-optimistically',
    text,
    values: [...values, ...Object.values(columns)],
    isComposed: true,
  });
  return version;
}

interface OptimisticUpdate {
  before: VersionedIncident;
  /** With the next revision. */
  properties: Partial<Incident>;
  entry: Omit<ChangelogEntry, 'id'>;
  event: NewEvent;
}
