import type { FollowUp } from '../../follow-ups/domain/follow-up.ts';
import type { Incident } from '../../incidents/domain/incident.ts';
import { INCIDENT_PROPERTIES } from '../../incidents/domain/incident-properties.ts';
import type { Property, Referred } from '../../incidents/domain/property-kinds.ts';
import type { Entry } from './activity.ts';

/** A user's ID as text; what an import has kept of somebody else is none (contract: Import). */
const USER_ID = /^[1-9]\d*$/;

export const ROLE_PREFIX = 'roles.';

/** What the changes of a property name by an ID: `incident_manager` a user. */
const REFERRED = new Map<string, Referred>(
  Object.values<Property>(INCIDENT_PROPERTIES).flatMap(({ name, refersTo }) =>
    name === undefined || refersTo === undefined || refersTo === 'viewers' ? [] : [[name, refersTo]],
  ),
)
  .set('archived_by', 'user')
  .set('created_by', 'user');

/** Changes of roles name the role, too. */
export const referredBy = (field: string): Referred | undefined =>
  REFERRED.get(field.startsWith(ROLE_PREFIX) ? 'roles' : field);

/** The IDs of users and teams that a post-mortem names. */
export function namedIn({
  incident,
  head,
  tail,
  followUps,
}: {
  incident: Incident;
  head: readonly Entry[];
  tail: readonly Entry[];
  followUps: readonly FollowUp[];
}) {
  const { createdBy, incidentManager, incidentResponders, roles } = incident;
  const users = new Set<unknown>([createdBy, incidentManager, ...incidentResponders, ...Object.values(roles).flat()]);
  for (const { owner } of followUps) users.add(owner);
  const teams = new Set<unknown>([incident.teamId]);
  for (const entry of [...head, ...tail]) {
    users.add(entry.kind === 'change' ? entry.actor : entry.event.createdBy);
    for (const { field, from, to } of entry.kind === 'change' ? entry.changes : []) {
      const ids = referredBy(field) === 'team' ? teams : referredBy(field) === 'user' ? users : new Set();
      for (const id of [from, to].flat()) ids.add(id);
    }
  }
  return { userIds: [...users].flatMap(idIn), teamIds: [...teams].flatMap(idIn) };
}

/** The ID in a value that may be another one: of a user it is a text. None if there is none. */
export function idIn(value: unknown): number[] {
  const id = typeof value === 'string' && USER_ID.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) ? [id] : [];
}
