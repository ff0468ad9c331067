import type { Statement } from '@tocsin/postgres';
import type { Listed } from '@tocsin/versioned-resources';
import {
  type ChangelogEntry,
  changelogMapping,
  LISTED_CHANGELOG_COLUMNS,
} from '../../incidents/store/changelog-store.ts';
import type { TimelineEvent } from '../../timeline/domain/timeline-event.ts';
import { LISTED_TIMELINE_COLUMNS, TIMELINE_SELECTION } from '../../timeline/store/timeline-row.ts';

/** Rows from the beginning or from the end of an incident's history. */
interface Part {
  workspaceId: number;
  incidentId: number;
  end: 'first' | 'last';
  limit: number;
}

const directionOf = (end: Part['end']) => (end === 'first' ? 'asc' : 'desc');

/** In no particular order; large bodies are left out. */
export const selectEvents = ({ workspaceId, incidentId, end, limit }: Part): Statement<Listed<TimelineEvent>> => ({
  name: `postmortem-${end}-events`,
  text: `select ${LISTED_TIMELINE_COLUMNS} from timeline_events where workspace_id = $1 and incident_id = $2
    order by started_at ${directionOf(end)}, id ${directionOf(end)} limit $3`,
  values: [workspaceId, incidentId, limit],
});

/** Of properties, in no particular order, as they were recorded, which an import may do late; large changes are left out. */
export const selectChanges = ({ workspaceId, incidentId, end, limit }: Part): Statement<Listed<ChangelogEntry>> => ({
  name: `postmortem-${end}-changes`,
  text: `select ${LISTED_CHANGELOG_COLUMNS} from changelog
    where workspace_id = $1 and incident_id = $2 and not is_of_parts order by id ${directionOf(end)} limit $3`,
  values: [workspaceId, incidentId, limit],
});

export const countChanges = (workspaceId: number, incidentId: number): Statement<{ count: number }> => ({
  name: 'postmortem-count-changes',
  text: `select count(id) as count from changelog
    where workspace_id = $1 and incident_id = $2 and not is_of_parts`,
  values: [workspaceId, incidentId],
});

export const wholeEvents = (workspaceId: number, ids: readonly number[]): Statement<TimelineEvent> => ({
  name: 'postmortem-whole-events',
  text: `select ${TIMELINE_SELECTION} from timeline_events
    where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`,
  values: [workspaceId, ids],
});

export const wholeChanges = (workspaceId: number, ids: readonly number[]): Statement<ChangelogEntry> => ({
  name: 'postmortem-whole-changes',
  text: `select ${changelogMapping.selection} from changelog
    where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`,
  values: [workspaceId, ids],
});
