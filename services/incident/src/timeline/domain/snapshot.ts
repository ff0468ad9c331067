import type { TimelineEventSnapshot } from '@tocsin/contracts';
import { shortenValue } from '../../incidents/domain/large-value.ts';
import type { TimelineEvent } from './timeline-event.ts';

/** Returns a timeline event as events contain it. */
export function timelineEventSnapshot(event: TimelineEvent): TimelineEventSnapshot {
  return {
    id: event.id,
    revision: event.revision,
    started_at: event.startedAt,
    ended_at: event.endedAt,
    is_ongoing: event.isOngoing,
    group_id: event.groupId,
    is_key: event.isKey,
    source: event.source,
    source_ref: shortenValue(event.sourceRef),
    type: event.type,
    icon: event.icon,
    title: event.title,
    body: shortenValue(event.body),
    collaboration_generation: event.collaborationGeneration,
    tags: shortenValue([...event.tags]),
    ai_context: shortenValue(event.aiContext),
    created_by: event.createdBy,
    source_window_started_at: event.sourceWindowStartedAt,
    source_window_ended_at: event.sourceWindowEndedAt,
    evidence_links: shortenValue([...event.evidenceLinks]),
  };
}
