import type { WorkspaceContext } from '@tocsin/schemas';
import { invalidRequest } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Incident, IncidentProperties } from './domain/incident.ts';
import { REFERRING } from './domain/property-sets.ts';
import { type Referred, USER_ID } from './domain/property-kinds.ts';
import { findActiveUsers, replicatedTeams } from '../replicas/store/replica-reads.ts';
import { checkByReplica, type Freshness } from '../replicas/replicas.ts';

/** A reference that a request sets and the incident does not have yet. */
interface NewReference {
  /** Where the request has it: `team_id`, `incident_responders.1`, `roles.scribe.0`. */
  field: string;
  refersTo: Referred;
  id: string;
}

/**
 * Returns the references of a request, except those that the incident has already: they may stay, even if the team or the
 * user is no longer active, or an import kept a name.
 */
export function newReferences(properties: Partial<IncidentProperties>, before?: Incident): NewReference[] {
  return REFERRING.flatMap(({ property, name, refersTo }) => {
    const stored = new Map(valuesOf(name, before?.[property]));
    return valuesOf(name, properties[property]).flatMap(([place, value]) =>
      idsOf(value)
        .map((id, index) => ({
          ...{ field: Array.isArray(value) ? `${place}.${index}` : place, id },
          refersTo: refersTo === 'viewers' ? (VIEWERS.get(place) ?? 'user') : refersTo,
        }))
        .filter(({ id }) => !idsOf(stored.get(place)).includes(id)),
    );
  });
}

/** What the members of `visible_to` name. */
const VIEWERS = new Map<string, Referred>([
  ['visible_to.users', 'user'],
  ['visible_to.teams', 'team'],
]);

type Ids = string | number | null | undefined | readonly (string | number)[];
type Members = Readonly<Record<string, readonly (string | number)[]>>;

/** The value of a property, or the values of its members, with their places. */
const valuesOf = (name: string, value: Ids | Members): [place: string, value: Ids][] =>
  typeof value === 'object' && value !== null && !isList(value)
    ? Object.entries(value).map(([key, people]) => [`${name}.${key}`, people])
    : [[name, value]];

const isList = (value: Members | readonly (string | number)[]): value is readonly (string | number)[] =>
  Array.isArray(value);

/** Empty text and null are no reference. */
const idsOf = (value: Ids): string[] =>
  [value ?? []]
    .flat()
    .map(String)
    .filter((id) => id !== '');

/** Whether checking these references needs the users' replica. */
export const referToUsers = (references: readonly NewReference[]) =>
  references.some(({ refersTo }) => refersTo === 'user');

/**
 * Checks references: teams must be active; users must be active users of the workspace.
 * @throws DomainError `invalid_request` naming the property; `service_unavailable` if the replica may be stale
 */
export async function checkReferences(
  db: Knex,
  {
    workspace,
    references,
    freshness,
  }: { workspace: WorkspaceContext; references: readonly NewReference[]; freshness: Freshness },
): Promise<void> {
  const to = (wanted: Referred) => references.filter(({ refersTo }) => refersTo === wanted);
  for (const { field, id } of to('user')) if (!USER_ID.test(id)) throw invalidRequest(field, "Must be a user's ID");
  await checkByReplica(freshness, 'catalog', async () => {
    const active = await activeOf(to('team'), replicatedTeams(db, workspace.id).findActive);
    for (const { field, id } of to('team')) if (!active.has(id)) throw invalidRequest(field, 'Must be an active team');
  });
  await checkByReplica(freshness, 'users', async () => {
    const active = await activeOf(to('user'), (ids) => findActiveUsers(db, workspace.id, ids));
    for (const { field, id } of to('user'))
      if (!active.has(id)) throw invalidRequest(field, 'Must be an active user of the workspace');
  });
}

/** What a check throws, for a decision that comes to it later. */
export async function refusalOf(check: Promise<void>): Promise<{ refusal?: Error }> {
  try {
    await check;
    return {};
  } catch (error) {
    return { refusal: error as Error };
  }
}

async function activeOf(
  references: readonly NewReference[],
  find: (ids: readonly number[]) => Promise<Set<number>>,
): Promise<Set<string>> {
  if (references.length === 0) return new Set();
  const active = await find(references.map(({ id }) => Number(id)));
  return new Set(active.values().map(String));
}
