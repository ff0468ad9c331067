import { insertEvents, type NewEvent } from '@tocsin/messaging';
import { type Knex, pipeline, query } from '@tocsin/postgres';
import { type Instant, ownProperty } from '@tocsin/runtime';
import type { WorkflowStatus } from '../configuration/domain/configuration.ts';
import { type Author, publishedActor, recordedActor } from '../incidents/save-incident.ts';
import { changesBetween, shortenChanges } from '../incidents/domain/changes.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { statusChange } from '../incidents/domain/lifecycle.ts';
import { incidentSnapshot } from '../incidents/domain/snapshot.ts';
import { insertChangelogEntries } from '../incidents/store/changelog-store.ts';
import { lockIncidents, updateStates } from '../incidents/store/incident-store.ts';
import { EVERY_RESTRICTED } from '../visibility/store/viewer.ts';
import type { Replacements } from './domain/replacements.ts';

/** Incidents that are changed by one round of statements: their values have at most 256 KiB each. */
const BATCH = 100;

export interface IncidentMapping {
  /** The incidents to change, ascending. */
  ids: readonly number[];
  replace: Replacements;
  /** The new list. */
  statuses: readonly WorkflowStatus[];
  workspaceId: number;
  author: Author;
  now: Instant;
}

/**
 * Replaces removed statuses and severities of incidents. Each incident gets its revision, its changelog entry and its event,
 * as by a PATCH.
 */
export async function mapIncidents(trx: Knex.Transaction, mapping: IncidentMapping): Promise<void> {
  for (let start = 0; start < mapping.ids.length; start += BATCH) {
    const ids = mapping.ids.slice(start, start + BATCH);
    const incidents = await query(trx, lockIncidents(mapping.workspaceId, ids, EVERY_RESTRICTED));
    const changed = incidents.map((incident) => change(incident, mapping));
    await pipeline(trx, [
      updateStates(
        mapping.workspaceId,
        changed.map(({ after }) => after),
      ),
      insertChangelogEntries(
        mapping.workspaceId,
        changed.map(({ entry }) => entry),
      ),
      insertEvents(changed.map(({ event }) => event)),
    ]);
  }
}

function change(before: Incident, { replace, statuses, author, now }: IncidentMapping) {
  const status = ownProperty(replace.statuses ?? {}, before.status);
  const severity = ownProperty(replace.severities ?? {}, before.severity);
  const after: Incident = {
    ...before,
    ...(status !== undefined && statusChange(before, status, { statuses, now })),
    ...(severity !== undefined && { severity, severityMode: 'manual' }),
    revision: before.revision + 1,
  };
  const { changes } = shortenChanges(changesBetween(before, after));
  const event: NewEvent = {
    type: 'incident.updated',
    occurredAt: now,
    workspace: author.workspace,
    requestId: author.requestId,
    restricted: after.restricted,
    data: { incident: incidentSnapshot(after), changes, ...publishedActor(author) },
  };
  const { id: incidentId, revision } = after;
  const entry = { incidentId, revision, ...recordedActor(author), changedAt: now, changes };
  return { after, entry, event };
}
