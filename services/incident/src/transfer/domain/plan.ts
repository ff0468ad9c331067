import { isDeepStrictEqual } from 'node:util';
import { quotaOf, type WorkspaceContext } from '@tocsin/contracts';
import { DomainError, invalidRequest, quotaExceeded } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import type { WorkflowStatus } from '../../configuration/domain/configuration.ts';
import type { Change } from '../../incidents/domain/changes.ts';
import { getValue, type Incident } from '../../incidents/domain/incident.ts';
import { INITIAL } from '../../incidents/domain/property-sets.ts';
import {
  checkSpan,
  summaryOf,
  type TimelineEvent,
  type TimelineEventProperties,
} from '../../timeline/domain/timeline-event.ts';
import { applyChanges, checkTotalSize, type FieldValue } from '../../values/domain/values.ts';

/** An item whose references are resolved; nothing of it depends on what is stored. */
export interface PreparedItem {
  externalId: string;
  /** What the item sets, with the defaults of a new incident where it does not. */
  given: Partial<Incident> & Pick<Incident, 'title' | 'status' | 'severity' | 'createdAt' | 'createdBy'>;
  values: readonly FieldValue[];
  events: readonly PreparedEvent[];
  changelog: readonly { changedAt: Instant; actor: string; changes: readonly Change[] }[];
}

export type PreparedEvent = Partial<EventProperties> &
  Pick<EventProperties, 'type' | 'startedAt' | 'body' | 'createdBy'> & { externalId: string };

type EventProperties = TimelineEventProperties & Pick<TimelineEvent, 'source' | 'sourceRef' | 'createdBy'>;

export interface PlanContext {
  workspace: WorkspaceContext;
  importer: number;
  statuses: readonly WorkflowStatus[];
  now: Instant;
}

/** Returns the incident as the item makes it, except of its revision and its timeline. */
function planIncident(
  { given, values, externalId }: PreparedItem,
  options: { before: Incident | undefined; identity: Pick<Incident, 'id' | 'number'>; context: PlanContext },
): Incident {
  const { before, identity, context } = options;
  const { statuses, now, importer, workspace } = context;
  const base = before ?? {
    ...INITIAL,
    ...{ severityMode: 'manual', endedAt: null, customFields: {}, importedAt: now, externalId },
    ...{ workspaceId: workspace.id, ...identity },
  };
  const merged = { ...base, ...given };
  const isAnotherStatus = before !== undefined && before.status !== given.status;
  const statusChangedAt = isAnotherStatus && given.statusChangedAt === undefined ? now : merged.statusChangedAt;
  const isTerminal = statuses.find(({ key }) => key === given.status)?.isTerminal === true;
  const customFields = applyChanges(base.customFields, values);
  checkTotalSize(customFields, { before: base.customFields, property: 'values' });
  return {
    ...merged,
    statusChangedAt,
    endedAt: isTerminal ? (statusChangedAt ?? merged.createdAt) : null,
    archivedBy: merged.archivedAt === null ? null : (base.archivedBy ?? importer),
    customFields,
  };
}

/** Those of these values that an incident does not have. */
const changedValues = (stored: Readonly<Record<string, unknown>>, values: readonly FieldValue[]) =>
  values.filter(({ field, value }) => !isDeepStrictEqual(getValue(stored, field.slug), value));

/** What is stored of an event that was imported before; of its body, whether the item has another. */
type StoredEvent = Omit<EventProperties, 'body'> &
  Pick<TimelineEvent, 'id' | 'revision' | 'collaborationGeneration'> & { isRewritten: boolean };

const NEW_EVENT = {
  ...{ endedAt: null, isOngoing: false, groupId: null, isKey: false, icon: '', title: '', tags: [] },
  ...{ source: 'import', sourceRef: '' },
};
/** What an import cannot set. */
const REST = {
  commentCount: 0,
  aiContext: '',
  evidenceLinks: [],
  sourceWindowStartedAt: null,
  sourceWindowEndedAt: null,
};

/** Returns the event as the item makes it; `undefined` if it is so already. @throws DomainError for an invalid span */
function planEvent(
  { externalId, ...given }: PreparedEvent,
  stored: StoredEvent | undefined,
  { incidentId, nextId }: { incidentId: number; nextId: () => number },
): (TimelineEvent & { externalId: string }) | undefined {
  const isSame = ([name, value]: [string, unknown]) =>
    name === 'body' || isDeepStrictEqual(stored?.[name as keyof StoredEvent], value);
  if (stored?.isRewritten === false && Object.entries(given).every(isSame)) return undefined;
  const after = { ...NEW_EVENT, ...stored, ...given };
  checkSpan(after, given);
  const isRewritten = stored === undefined || stored.isRewritten || stored.title !== after.title;
  const { endedAt, isOngoing, groupId, isKey, icon, title, tags, source, sourceRef } = after;
  return {
    ...REST,
    ...given,
    ...{ endedAt, isOngoing, groupId, isKey, icon, title, tags, source, sourceRef, externalId, incidentId },
    id: stored?.id ?? nextId(),
    revision: (stored?.revision ?? 0) + 1,
    collaborationGeneration: (stored?.collaborationGeneration ?? 0) + (isRewritten ? 1 : 0),
  };
}

/** What an item changes. */
export interface Planned {
  before: Incident | undefined;
  after: Incident;
  /** New events, and changed ones after the change. */
  events: (TimelineEvent & { externalId: string })[];
  /** New values; null removes one. */
  values: readonly FieldValue[];
  /** Earlier changes that the changelog lacks. */
  entries: PreparedItem['changelog'];
}

/** What is stored of the incident of an item. */
export interface StoredItem {
  events: ReadonlyMap<string, StoredEvent>;
  entries: PreparedItem['changelog'];
}

/**
 * Returns what an item changes; `undefined` for nothing. The summary of the timeline is left to `withLastEvent`.
 * @throws DomainError why the item is refused
 */
export function planItem(
  item: PreparedItem,
  options: {
    before: Incident | undefined;
    identity: Pick<Incident, 'id' | 'number'>;
    stored: StoredItem;
    nextEventId: () => number;
    context: PlanContext;
  },
): Planned | undefined {
  const { before, identity, stored, nextEventId, context } = options;
  const after = planIncident(item, options);
  const planOne = (event: PreparedEvent, index: number) => {
    try {
      const found = stored.events.get(event.externalId);
      return planEvent(event, found, { incidentId: identity.id, nextId: nextEventId }) ?? [];
    } catch (error) {
      throw error instanceof DomainError ? invalidRequest(`timeline.${index}.${error.field}`, error.message) : error;
    }
  };
  const events = item.events.flatMap(planOne);
  const added = events.filter(({ externalId }) => !stored.events.has(externalId)).length;
  after.eventCount += added;
  checkQuota('timeline_events', after.eventCount, context, 'timeline events in one incident');
  const entries = stored.entries;
  if (before !== undefined && events.length === 0 && entries.length === 0 && isDeepStrictEqual(after, before)) {
    return undefined;
  }
  if (before === undefined) checkQuota('incidents', after.number, context, 'incidents');
  else after.revision += 1;
  return { before, after, events, values: changedValues(before?.customFields ?? {}, item.values), entries };
}

/** @throws DomainError `invalid_resource_state` */
function checkQuota(
  name: 'incidents' | 'timeline_events',
  count: number,
  { workspace }: PlanContext,
  what: string,
): void {
  const quota = quotaOf(workspace, name);
  if (quota !== null && count > quota) throw quotaExceeded(name, `at most ${quota} ${what}`);
}

type Latest = Pick<TimelineEvent, 'id' | 'startedAt' | 'title' | 'body'>;

/** Sets the summary of the timeline. @param unchanged the latest of the events that stay as they are */
export function withLastEvent({ after, events }: Planned, unchanged: Latest | undefined): void {
  const isLater = (one: Latest, other: Latest) =>
    one.startedAt > other.startedAt || (one.startedAt === other.startedAt && one.id > other.id);
  let last = unchanged;
  for (const event of events) if (last === undefined || isLater(event, last)) last = event;
  if (last !== undefined) Object.assign(after, { lastEventAt: last.startedAt, lastEventSummary: summaryOf(last) });
}
