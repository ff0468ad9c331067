import type { RecordedKey } from '@tocsin/schemas';
import { DomainError, invalidRequest, invalidState } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import type { Change } from '../../incidents/domain/changes.ts';
import { humanId, type Incident } from '../../incidents/domain/incident.ts';

/** The types that a request may give. */
export const GIVEN_TYPES = ['duplicate_of', 'caused_by', 'related'] as const;
/** Each type as the other incident sees it. */
const INVERSE = {
  duplicate_of: 'duplicated_by',
  duplicated_by: 'duplicate_of',
  caused_by: 'causes',
  causes: 'caused_by',
  related: 'related',
} as const;

export type GivenType = (typeof GIVEN_TYPES)[number];
export type RelationType = keyof typeof INVERSE;
export const RELATION_TYPES = Object.keys(INVERSE) as [RelationType, ...RelationType[]];

export const inverseOf = (type: RelationType): RelationType => INVERSE[type];

/** A relation as one of its incidents sees it. */
export interface Relation {
  id: number;
  type: RelationType;
  createdAt: Instant;
  createdBy: string;
  /** The API key that related them; null: not known. */
  createdByKey: RecordedKey | null;
  /** The other one. */
  related: Pick<Incident, 'id' | 'number' | 'title' | 'severity' | 'status'>;
}

/** Relations of one type that an incident has. */
export const MAX_OF_A_TYPE = 100;
/** Incidents that are visited to find a circle of duplicates. */
export const MAX_VISITED = 1_000;

/**
 * Returns the incident that a body names, if it can be related to another one.
 * @throws DomainError `invalid_request`, `invalid_resource_state` naming `incident_id`
 */
export function checkRelated(incident: Incident, related: Incident | undefined, type: GivenType): Incident {
  if (related === undefined) throw invalidRequest('incident_id', 'Must be an existing incident of the workspace');
  if (related.id === incident.id) throw invalidRequest('incident_id', 'Must be another incident');
  if (related.archivedAt !== null) {
    throw new DomainError('invalid_resource_state', 'The incident is archived', { field: 'incident_id' });
  }
  if (type === 'duplicate_of' && !mayName(incident, related)) {
    throw invalidRequest('incident_id', 'Must not be restricted unless this incident is');
  }
  return related;
}

/** @throws DomainError `invalid_resource_state` if one of the two has as many relations of the type as it may have */
export function checkRoom(type: GivenType, counts: { ofType: number; ofInverse: number }): void {
  const isFull = counts.ofType >= MAX_OF_A_TYPE;
  if (!isFull && counts.ofInverse < MAX_OF_A_TYPE) return;
  const full = isFull
    ? `The incident has ${MAX_OF_A_TYPE} of ${type}`
    : `The other one has ${MAX_OF_A_TYPE} of ${inverseOf(type)}`;
  throw new DomainError('invalid_resource_state', `${full} already`, { field: 'type' });
}

/**
 * @param visited the incidents that the related one duplicates, itself included, as many as were visited
 * @throws DomainError `invalid_request` for a circle, `invalid_resource_state` if there are too many to know
 */
export function checkNoCircle({ visited, isCircle }: { visited: number; isCircle: boolean }): void {
  if (isCircle)
    throw invalidRequest('incident_id', 'Must not be a duplicate of this incident, directly or through others');
  if (visited > MAX_VISITED)
    throw invalidState(`The other incident is a duplicate of more than ${MAX_VISITED} incidents`);
}

/** What a changelog and an event say of a relation that is new, or gone. */
export const changeOf = (type: RelationType, related: Pick<Incident, 'number'>, what: 'added' | 'removed'): Change => {
  const reference = humanId(related.number);
  return {
    field: `relations.${type}`,
    from: what === 'removed' ? reference : null,
    to: what === 'added' ? reference : null,
  };
};

/**
 * Whether the changelog and the events of an incident may name another one: those of an incident that all may see say nothing
 * of a restricted one.
 */
export const mayName = (incident: Pick<Incident, 'restricted'>, other: Pick<Incident, 'restricted'>): boolean =>
  incident.restricted || !other.restricted;
