import type { Statement } from '@tocsin/postgres';
import type { Incident } from '../../incidents/domain/incident.ts';
import type { Attachment } from '../../timeline/store/attachment-store.ts';
import type { ExportedPicture } from '../domain/export-line.ts';
import { nativeIdOf } from '../domain/item.ts';

type IncidentKey = Pick<Incident, 'workspaceId' | 'id'>;

/** Finds an event by its external ID, or one that was written here by the one that an export gives it. */
export const findImportedEvent = ({ workspaceId, id }: IncidentKey, externalId: string): Statement<{ id: number }> => ({
  name: 'find-imported-event',
  text: `select id from timeline_events
    where workspace_id = $1 and incident_id = $2 and (external_id = $3 or (id = $4 and external_id is null))
    order by external_id nulls last limit 1`,
  values: [workspaceId, id, externalId, nativeIdOf(externalId)],
});

/** The pictures of an event, and which of them has these bytes, or was made of them. */
export const findPictures = (
  workspaceId: number,
  eventId: number,
  digest: Buffer,
): Statement<{ id: number; filename: string; isSame: boolean }> => ({
  name: 'find-pictures-of-event',
  text: `select id, file.filename, source_digest = $3 or sha256(content) = $3 as "isSame"
    from timeline_attachments as file join pictures using (workspace_id, id)
    where workspace_id = $1 and file.timeline_event_id = $2 order by id`,
  values: [workspaceId, eventId, digest],
});

export const attachImported = (workspaceId: number, attachment: Attachment): Statement => ({
  name: 'attach-imported-picture',
  text: `insert into timeline_attachments
      (workspace_id, id, timeline_event_id, filename, url, content_type, size_bytes, created_at, created_by)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
  values: [
    ...[workspaceId, attachment.id, attachment.eventId, attachment.filename, attachment.url],
    ...[attachment.contentType, attachment.sizeBytes, attachment.createdAt, attachment.createdBy],
  ],
});

export const raiseRevision = (workspaceId: number, eventId: number): Statement => ({
  name: 'raise-revision-of-event',
  text: 'update timeline_events set revision = revision + 1 where workspace_id = $1 and id = $2',
  values: [workspaceId, eventId],
});

/** The next picture of an incident that an event has; one at a time, because each may be large. */
export const pictureAfter = ({ workspaceId, id }: IncidentKey, after: number): Statement<ExportedPicture> => ({
  name: 'export-picture',
  text: `select pictures.id, event.id as "eventId", event.external_id as "eventExternalId", pictures.filename,
      pictures.content_type as "contentType", content
    from pictures join timeline_events as event
      on event.workspace_id = pictures.workspace_id and event.id = pictures.timeline_event_id
    where pictures.workspace_id = $1 and pictures.incident_id = $2 and pictures.id > $3 order by pictures.id limit 1`,
  values: [workspaceId, id, after],
});
