import { quotaExceeded } from '@tocsin/http';
import type { Incident } from '../../incidents/domain/incident.ts';
import type { TimelineEventProperties } from './timeline-event.ts';

/** Notes of lifecycle operations beyond the quota: a full timeline must not keep anybody from resolving with a note. */
const NOTES_BEYOND = 1_000;

type Timeline = Pick<Incident, 'eventCount'>;

const exceeded = (quota: number) =>
  quotaExceeded('timeline_events', `at most ${quota} timeline events in one incident`);

/**
 * Checks that a locked incident may have another event (contract: Quotas).
 * @param quota null: unlimited
 * @throws DomainError `invalid_resource_state`
 */
export function checkRoomForEvent({ eventCount }: Timeline, quota: number | null): void {
  if (quota !== null && eventCount >= quota) throw exceeded(quota);
}

/** As `checkRoomForEvent`, for the note of a lifecycle operation. */
export function checkRoomForNote({ eventCount }: Timeline, quota: number | null): void {
  if (quota !== null && eventCount >= quota + NOTES_BEYOND) throw exceeded(quota);
}

/** Returns the first events, as many as the incident may have. @throws DomainError if it may have none */
export function limitToQuota<Event>({ eventCount }: Timeline, events: readonly Event[], quota: number | null): Event[] {
  checkRoomForEvent({ eventCount }, quota);
  return events.slice(0, quota === null ? events.length : quota - eventCount);
}

/** What counts as the event's storage. */
export const textsOf = ({ title, body, tags }: Pick<TimelineEventProperties, 'title' | 'body' | 'tags'>) => [
  title,
  body,
  tags,
];
