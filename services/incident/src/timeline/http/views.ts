import { keyOf } from '../../incidents/domain/acts.ts';
import type { TimelineEvent } from '../domain/timeline-event.ts';
import { thumbnailUrl } from '../../pictures/domain/picture.ts';
import { type Attachment, isPicture } from '../store/attachment-store.ts';
import type { FormerTimelineEvent } from '../store/former-event-store.ts';
import type { AttachmentUrl } from './attachment-urls.ts';
import type { FormerEventWire, TimelineEventWire } from './wire.ts';

/** Returns a timeline event as the API shows it, with those of `attachments` that belong to it. */
export function timelineEventView(
  event: TimelineEvent,
  attachments: readonly Attachment[],
  attachmentUrl: AttachmentUrl,
): TimelineEventWire {
  return {
    id: event.id,
    revision: event.revision,
    incident_id: event.incidentId,
    started_at: event.startedAt,
    at: event.startedAt,
    ended_at: event.endedAt,
    is_ongoing: event.isOngoing,
    group_id: event.groupId,
    is_key: event.isKey,
    source: event.source,
    source_ref: event.sourceRef,
    type: event.type,
    icon: event.icon,
    title: event.title,
    body: event.body,
    collaboration_generation: event.collaborationGeneration,
    tags: [...event.tags],
    ai_context: event.aiContext,
    created_by: event.createdBy,
    created_by_key: event.createdByKey,
    comment_count: event.commentCount,
    attachments: attachments
      .filter(({ eventId }) => eventId === event.id)
      .map((attachment) => attachmentView(attachment, attachment.url ?? attachmentUrl(attachment.storageKey))),
    source_window_started_at: event.sourceWindowStartedAt,
    source_window_ended_at: event.sourceWindowEndedAt,
    evidence_links: [...event.evidenceLinks],
    imported: event.externalId !== null,
    edited_by: event.editedBy,
    edited_at: event.editedAt,
    edited_api_key: keyOf({ keyName: event.editedKeyName, keyPrefix: event.editedKeyPrefix }),
  };
}

/** Returns what a timeline event was: without what belongs to the present one. */
export function formerEventView(event: FormerTimelineEvent): FormerEventWire {
  const { attachments, comment_count, ...former } = newEventView({ ...event, id: event.eventId });
  return {
    ...former,
    attachments: (event.files ?? []).map(({ id, filename, content_type, size_bytes }) => ({
      ...{ id, filename, content_type, size_bytes },
    })),
    deleted_by: event.deletedBy,
    deleted_at: event.deletedAt,
    deleted_api_key: keyOf({ keyName: event.deletedKeyName, keyPrefix: event.deletedKeyPrefix }),
  };
}

/** Returns a new event, which has no attachments. */
export const newEventView = (event: TimelineEvent) => timelineEventView(event, [], () => '');

function attachmentView(attachment: Attachment, url: string): TimelineEventWire['attachments'][number] {
  return {
    id: attachment.id,
    timeline_event_id: attachment.eventId,
    filename: attachment.filename,
    url,
    url_available: url !== '',
    content_type: attachment.contentType,
    thumbnail_url: isPicture(attachment) ? thumbnailUrl(attachment.id) : null,
    size_bytes: attachment.sizeBytes,
    created_at: attachment.createdAt,
    created_by: attachment.createdBy,
  };
}
