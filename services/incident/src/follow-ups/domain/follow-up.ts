import type { FollowUpSnapshot, RecordedKey } from '@tocsin/schemas';
import { invalidState, jsonEqual } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { type Change, changesOfPart } from '../../incidents/domain/changes.ts';
import { shortenValue } from '../../incidents/domain/large-value.ts';

export const FOLLOW_UP_STATUSES = ['open', 'done', 'dropped'] as const;
export type FollowUpStatus = (typeof FOLLOW_UP_STATUSES)[number];

/** The properties that a client sets. Empty text means none. */
export interface FollowUpProperties {
  title: string;
  description: string;
  /** The ID of a user, or what an import has kept of somebody who is none. */
  owner: string;
  /** A day, `YYYY-MM-DD`. */
  dueOn: string | null;
  status: FollowUpStatus;
  externalUrl: string;
}

/** Work that is left to do after an incident (contract: Follow-ups). */
export interface FollowUp extends FollowUpProperties {
  id: number;
  revision: number;
  incidentId: number;
  createdAt: Instant;
  createdBy: string;
  /** The API key that created it; null: not known. */
  createdByKey: RecordedKey | null;
  /** When it became `done`; null while it is not. */
  completedAt: Instant | null;
  updatedAt: Instant;
  /** In the system that an import brought it from; null: it was created here. */
  externalId: string | null;
}

/** Follow-ups of one incident, and the maximum lengths of texts (contract: Follow-ups). */
export const FOLLOW_UP_LIMITS = { ofIncident: 500, title: 255, description: 10_000 } as const;

/** What a new follow-up has unless it is given. */
export const NEW_FOLLOW_UP = {
  description: '',
  owner: '',
  dueOn: null,
  status: 'open',
  externalUrl: '',
  createdByKey: null,
  completedAt: null,
  externalId: null,
} as const satisfies Partial<FollowUp>;

export const newFollowUp = (
  given: Pick<FollowUp, 'id' | 'incidentId' | 'createdBy' | 'createdByKey'>,
  properties: Partial<FollowUpProperties> & Pick<FollowUpProperties, 'title'>,
  now: Instant,
): FollowUp => ({
  ...{ ...NEW_FOLLOW_UP, ...given, ...properties, revision: 1, createdAt: now, updatedAt: now },
  completedAt: properties.status === 'done' ? now : null,
});

/** Returns the follow-up after a change, which may say when it was; the same object if it changes nothing. */
export function changeFollowUp(before: FollowUp, changes: Partial<FollowUp>, now: Instant): FollowUp {
  const after = { ...before, ...changes };
  if (jsonEqual(after, before)) return before;
  const completedAt = after.status === 'done' ? (after.completedAt ?? now) : null;
  return { ...after, completedAt, revision: before.revision + 1, updatedAt: changes.updatedAt ?? now };
}

/** @throws DomainError `invalid_resource_state` */
export function checkRoomForFollowUps(count: number): void {
  if (count > FOLLOW_UP_LIMITS.ofIncident)
    throw invalidState(`An incident has at most ${FOLLOW_UP_LIMITS.ofIncident} follow-ups`);
}

/** Returns a follow-up as events contain it. */
export const followUpSnapshot = (followUp: FollowUp): FollowUpSnapshot => ({
  id: followUp.id,
  revision: followUp.revision,
  incident_id: followUp.incidentId,
  title: followUp.title,
  description: shortenValue(followUp.description),
  owner: followUp.owner,
  due_on: followUp.dueOn,
  status: followUp.status,
  external_url: shortenValue(followUp.externalUrl),
  created_at: followUp.createdAt,
  created_by: followUp.createdBy,
  created_by_key: followUp.createdByKey,
  completed_at: followUp.completedAt,
  updated_at: followUp.updatedAt,
});

const placeOf = ({ id }: FollowUp) => `follow_ups.${id}`;

/** What the changelog of the incident says of a new follow-up, or of a changed one. */
export const changesTo = (after: FollowUp, before?: FollowUp): Change[] =>
  before === undefined
    ? [{ field: placeOf(after), from: null, to: after.title }]
    : changesOfPart(placeOf(after), followUpSnapshot(before), followUpSnapshot(after));

/** What it says of a deleted follow-up: all that was set. */
export function changesFrom(before: FollowUp): Change[] {
  const { title, ...properties } = followUpSnapshot(before);
  const lost = changesOfPart(placeOf(before), properties, {}).filter(({ from }) => from !== '');
  return [{ field: placeOf(before), from: title, to: null }, ...lost];
}
