import { jsonEqual } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import type { Incident } from '../incidents/domain/incident.ts';
import { type Change, changesOfPart } from '../incidents/domain/changes.ts';
import { placeOfEvent, timelineEventSnapshot, summaryOf, type TimelineEvent } from './domain/timeline-event.ts';
import type { LatestEvent } from './store/timeline-store.ts';
import {
  type ChangedIncident,
  changeIncident,
  type IncidentChange,
  type TimelineEventChange,
} from '../incidents/save-incident.ts';

/** What its attachments are called. */
type FileNames = readonly string[];

type TimelineItem = { event: TimelineEvent } & (
  | { type: 'timeline_event.created' | 'timeline_event.deleted' }
  | { type: 'timeline_event.updated'; was: TimelineEvent; files?: { before: FileNames; after: FileNames } }
  | { type: 'timeline_event.restored'; deletedAt: Instant }
);

interface TimelineChange extends Omit<IncidentChange, 'change' | 'event' | 'timeline'> {
  /** What happens to timeline events; a deleted one as it was. */
  timeline: readonly TimelineItem[];
  /** The last of the events that are not in `timeline`, if others than new ones are in it. */
  latestOther?: LatestEvent | undefined;
  /** Other changes of the incident. */
  change?: Partial<Incident>;
}

const COUNTED = {
  'timeline_event.created': 1,
  'timeline_event.updated': 0,
  'timeline_event.deleted': -1,
  'timeline_event.restored': 1,
} as const;

/**
 * Changes an incident whose timeline changes, with its summary of the timeline. The incident must be locked: the summary is
 * correct because the timeline changes only under that lock.
 */
export function changeTimeline({ change = {}, latestOther, ...options }: TimelineChange): ChangedIncident {
  const { before, timeline } = options;
  const eventCount = timeline.reduce((count, { type }) => count + COUNTED[type], before.eventCount);
  const last = timeline.every(({ type }) => type === 'timeline_event.created')
    ? lastAfterCreation(before, timeline)
    : lastOf([...timeline.flatMap((item) => (COUNTED[item.type] < 0 ? [] : item.event)), latestOther]);
  return changeIncident({
    ...options,
    change: { ...change, ...last, eventCount },
    timeline: timeline.map((item): TimelineEventChange => {
      const snapshot = timelineEventSnapshot(item.event);
      return { type: item.type, snapshot, changes: changesOf(item, snapshot) };
    }),
  });
}

/** What the changelog says of it. A text that a change replaces is kept as it was besides, however large it is. */
function changesOf(item: TimelineItem, snapshot: TimelineEventChange['snapshot']): Change[] {
  const place = placeOfEvent(item.event);
  if (item.type === 'timeline_event.updated') {
    const { before: from, after: to } = item.files ?? { before: [], after: [] };
    const files = jsonEqual(from, to) ? [] : [{ field: `${place}.attachments`, from, to }];
    return [...changesOfPart(place, timelineEventSnapshot(item.was), snapshot), ...files];
  }
  if (item.type === 'timeline_event.restored')
    return [{ field: `${place}.deleted_at`, from: item.deletedAt, to: null }];
  const summary = summaryOf(item.event);
  const isNew = item.type === 'timeline_event.created';
  return [{ field: place, from: isNew ? null : summary, to: isNew ? summary : null }];
}

type Last = Pick<Incident, 'lastEventAt' | 'lastEventSummary'>;

/** Events of the same time are in the order of their IDs. */
function lastOf(events: readonly (LatestEvent | undefined)[]): Last {
  const isLater = (one: LatestEvent, other: LatestEvent) =>
    one.startedAt === other.startedAt ? one.id > other.id : one.startedAt > other.startedAt;
  let latest: LatestEvent | undefined;
  for (const event of events)
    if (event !== undefined && (latest === undefined || isLater(event, latest))) latest = event;
  return {
    lastEventAt: latest?.startedAt ?? null,
    lastEventSummary: latest === undefined ? '' : summaryOf(latest),
  };
}

/** New events have higher IDs than the others, so they come after those of the same time. */
function lastAfterCreation({ lastEventAt, lastEventSummary }: Last, created: TimelineChange['timeline']): Last {
  let last: Last = { lastEventAt, lastEventSummary };
  for (const { event } of created) {
    if (last.lastEventAt === null || event.startedAt >= last.lastEventAt) last = lastOf([event]);
  }
  return last;
}
