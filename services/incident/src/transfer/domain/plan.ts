import { quotaOf, type WorkspaceContext } from '@tocsin/schemas';
import { DomainError, invalidRequest, jsonEqual, quotaExceeded } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { changedProperties } from '@tocsin/versioned-resources';
import type { WorkflowStatus } from '../../configuration/domain/configuration.ts';
import type { Change } from '../../incidents/domain/changes.ts';
import { humanId, type Incident } from '../../incidents/domain/incident.ts';
import {
  changeFollowUp,
  changesTo,
  checkRoomForFollowUps,
  type FollowUp,
  NEW_FOLLOW_UP,
} from '../../follow-ups/domain/follow-up.ts';
import type { WrittenPostmortem } from '../../postmortem/domain/written.ts';
import type { Relation } from '../../relations/domain/relation.ts';
import { holdersAfter } from '../../incidents/domain/role-holders.ts';
import { INITIAL } from '../../incidents/domain/property-sets.ts';
import {
  checkSpan,
  NEW_EVENT,
  placeOfEvent,
  summaryOf,
  type TimelineEvent,
  type TimelineEventProperties,
} from '../../timeline/domain/timeline-event.ts';
import { applyChanges, checkValue, checkTotalSize, type FieldValue, isChange } from '../../values/domain/values.ts';
import { changeOfPostmortem, planPostmortem, type PreparedPostmortem } from './plan-postmortem.ts';

/** An item whose references are resolved; nothing of it depends on what is stored. */
export interface PreparedItem {
  externalId: string;
  /** What the item sets, with the defaults of a new incident where it does not. */
  given: Partial<Incident> & Pick<Incident, 'title' | 'status' | 'severity' | 'createdAt' | 'createdBy'>;
  values: readonly PreparedValue[];
  events: readonly PreparedEvent[];
  changelog: readonly PreparedChange[];
  followUps: readonly PreparedFollowUp[];
  postmortem: PreparedPostmortem | undefined;
  relations: readonly PreparedRelation[];
}

/** A value, and why its field does not allow it: then the incident must have it, or the elements at fault, already. */
export type PreparedValue = FieldValue & { violation?: DomainError };

/** An earlier change; `importKey` is the same each time that a source gives it. */
export interface PreparedChange {
  changedAt: Instant;
  actor: string;
  keyName: string | null;
  keyPrefix: string | null;
  changes: readonly Change[];
  importKey: string;
}

export type PreparedEvent = Partial<EventProperties> &
  Pick<EventProperties, 'type' | 'startedAt' | 'body' | 'createdBy'> & { externalId: string };

/** A relation to the incident with an external ID. */
export type PreparedRelation = Pick<Relation, 'type' | 'createdAt' | 'createdBy'> & { externalId: string };

export type PreparedFollowUp = Partial<FollowUp> &
  Pick<FollowUp, 'title' | 'createdAt' | 'createdBy'> & { externalId: string };

type EventProperties = TimelineEventProperties &
  Pick<TimelineEvent, 'source' | 'sourceRef' | 'createdBy' | 'createdByKey'>;

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
  const merged = { ...base, ...given, roles: holdersAfter(base.roles, given.roles ?? {}, 'people.roles') };
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

/** Returns those of these values that an incident does not have. @throws DomainError for one that its field does not allow */
function changedValues(stored: Readonly<Record<string, unknown>>, values: readonly PreparedValue[]): FieldValue[] {
  const changed = values.filter((value) => isChange(stored, value));
  for (const change of changed) {
    if (change.violation !== undefined) checkValue(change, { at: `values.${change.field.slug}`, stored });
  }
  return changed;
}

/** What is stored of an event that an item names; of its body, whether the item has another. */
type StoredEvent = Omit<EventProperties, 'body'> &
  Pick<TimelineEvent, 'id' | 'revision' | 'collaborationGeneration'> & {
    isRewritten: boolean;
    /** Whether no import made it: an export of this workspace has named it. */
    isNative: boolean;
  };

/**
 * Returns the event as the item makes it; `undefined` if it is so already. What no import made stays as it is: an item
 * with another state of it adds that.
 * @throws DomainError for an invalid span
 */
function planEvent(
  { externalId, ...given }: PreparedEvent,
  named: StoredEvent | undefined,
  { incidentId, nextId }: { incidentId: number; nextId: () => number },
): (TimelineEvent & { externalId: string }) | undefined {
  const { body: _body, ...others } = given;
  if (named?.isRewritten === false && changedProperties<typeof others>(named, others) === undefined) return undefined;
  const stored = named?.isNative === true ? undefined : named;
  const { isRewritten: hasOtherBody = true, isNative: _, ...kept } = stored ?? {};
  const after = { ...NEW_EVENT, source: 'import', ...kept, ...given };
  checkSpan(after, given);
  const isRewritten = hasOtherBody || stored?.title !== after.title;
  return {
    ...after,
    ...{ externalId, incidentId },
    id: stored?.id ?? nextId(),
    revision: (stored?.revision ?? 0) + 1,
    collaborationGeneration: (stored?.collaborationGeneration ?? 0) + (isRewritten ? 1 : 0),
  };
}

/**
 * Returns the follow-up as the item makes it; `undefined` if it is so already. As an event, one that no import made stays
 * as it is.
 */
function planFollowUp(
  { externalId, ...given }: PreparedFollowUp,
  named: FollowUp | undefined,
  { incidentId, nextId, now }: { incidentId: number; nextId: () => number; now: Instant },
): FollowUp | undefined {
  if (named !== undefined) {
    const isNative = named.externalId === null;
    // Of what no import made, another moment is no other state.
    const changed = changeFollowUp(named, { ...given, ...(isNative && { updatedAt: named.updatedAt }) }, now);
    if (changed === named) return undefined;
    if (!isNative) return changed;
  }
  const { status = 'open', completedAt = now } = given;
  return {
    ...{ ...NEW_FOLLOW_UP, updatedAt: now, ...given, externalId, incidentId, id: nextId(), revision: 1 },
    completedAt: status === 'done' ? completedAt : null,
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
  entries: readonly PreparedChange[];
  /** New follow-ups, and changed ones after the change. */
  followUps: readonly FollowUp[];
  /** After the change; undefined: it stays. */
  postmortem: WrittenPostmortem | undefined;
  /** What the changelog says of these parts of an incident that was there. */
  parts: readonly Change[];
}

/** What is stored of the incident of an item. */
export interface StoredItem {
  events: ReadonlyMap<string, StoredEvent>;
  entries: readonly PreparedChange[];
  /** All of the incident. */
  followUps: ReadonlyMap<string, FollowUp>;
  followUpCount: number;
  postmortem: WrittenPostmortem | undefined;
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
    nextFollowUpId: () => number;
    context: PlanContext;
  },
): Planned | undefined {
  const { before, identity, stored, nextEventId, nextFollowUpId, context } = options;
  const values = changedValues(before?.customFields ?? {}, item.values);
  const after = planIncident(item, options);
  const planOne = (event: PreparedEvent, index: number) => {
    try {
      const storedEvent = stored.events.get(event.externalId);
      return planEvent(event, storedEvent, { incidentId: identity.id, nextId: nextEventId }) ?? [];
    } catch (error) {
      throw error instanceof DomainError ? invalidRequest(`timeline.${index}.${error.field}`, error.message) : error;
    }
  };
  const events = item.events.flatMap(planOne);
  after.eventCount += events.filter(({ revision }) => revision === 1).length;
  const entries = stored.entries;
  const ofFollowUp = { incidentId: identity.id, nextId: nextFollowUpId, now: context.now };
  const parts = events.map(changeOfEvent);
  const followUps = item.followUps.flatMap((followUp) => {
    const named = stored.followUps.get(followUp.externalId);
    const planned = planFollowUp(followUp, named, ofFollowUp);
    if (planned === undefined) return [];
    parts.push(...changesTo(planned, planned.id === named?.id ? named : undefined));
    return planned;
  });
  const postmortem = planPostmortem(item.postmortem, stored.postmortem, identity.id);
  if (postmortem !== undefined) {
    after.postmortemState = postmortem.state;
    parts.push(changeOfPostmortem(postmortem, stored.postmortem));
  }
  const count = events.length + entries.length + followUps.length + (postmortem === undefined ? 0 : 1);
  if (before !== undefined && count === 0 && jsonEqual(after, before)) {
    return undefined;
  }
  if (before?.importedAt === null) {
    const message = `Must not name ${humanId(before.number)}, which no import made, except with what it has already`;
    throw invalidRequest('external.id', message);
  }
  checkRoomForFollowUps(stored.followUpCount + followUps.filter(({ revision }) => revision === 1).length);
  checkQuota('timeline_events', after.eventCount, context, 'timeline events in one incident');
  if (before === undefined) checkQuota('incidents', after.number, context, 'incidents');
  else after.revision += 1;
  return { before, after, events, values, entries, followUps, postmortem, parts: before === undefined ? [] : parts };
}

/** Of a changed event, what it was is kept; the body is not read here. */
function changeOfEvent(event: TimelineEvent): Change {
  const { revision } = event;
  return revision === 1
    ? { field: placeOfEvent(event), from: null, to: summaryOf(event) }
    : { field: `${placeOfEvent(event)}.revision`, from: revision - 1, to: revision };
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
