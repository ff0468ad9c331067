import { normaliseList } from '@tocsin/http';
import { parseTimestamp } from '@tocsin/contracts';
import type { TimelineEventProperties } from '../domain/timeline-event.ts';

/** What a request may say of a timeline event, by the names on the wire; validated already. */
export interface WireTimelineProperties {
  started_at?: string | undefined;
  /** The old name of `started_at`; never both. */
  at?: string | undefined;
  ended_at?: string | null | undefined;
  is_ongoing?: boolean | undefined;
  group_id?: number | null | undefined;
  is_key?: boolean | undefined;
  type?: string | undefined;
  icon?: string | undefined;
  title?: string | undefined;
  body?: string | undefined;
  tags?: readonly string[] | undefined;
}

/** The properties that a request names, in the form that is kept; the others are left out. */
export function timelinePropertiesOf(wire: WireTimelineProperties): Partial<TimelineEventProperties> {
  const moment = (text: string | null | undefined) => (typeof text === 'string' ? parseTimestamp(text) : text);
  const named = {
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
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}
