import { parseTimestamp } from '@tocsin/schemas';
import { normaliseList } from '@tocsin/http';
import { definedProperties } from '@tocsin/versioned-resources';
import { PERSON, type TimelineEventInput } from '../domain/timeline-event.ts';
import type { NewTimelineEventWire, TimelineEventPatch } from './wire.ts';

/** The properties that a validated request gives, as the event stores them. */
export function toTimelineProperties(wire: NewTimelineEventWire | TimelineEventPatch): TimelineEventInput {
  const moment = <None extends null | undefined>(text: string | None) =>
    typeof text === 'string' ? parseTimestamp(text) : text;
  return definedProperties<Required<TimelineEventInput>>({
    startedAt: moment(wire.started_at ?? wire.at),
    endedAt: moment(wire.ended_at),
    isOngoing: wire.is_ongoing,
    groupId: wire.group_id,
    isKey: wire.is_key,
    type: wire.type?.trim(),
    icon: wire.icon,
    title: wire.title?.trim(),
    body: wire.body,
    tags: wire.tags && normaliseList(wire.tags),
    evidenceLinks: wire.evidence_links?.map(({ url, label, summary }) => ({
      ...{ source: PERSON, url },
      ...(label !== undefined && { label }),
      ...(summary !== undefined && { summary }),
    })),
  });
}
