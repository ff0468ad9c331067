import { invalidRequest, jsonEqual } from '@tocsin/http';
import { ownProperty } from '@tocsin/runtime';
import type { IncidentRole } from '../../configuration/domain/configuration.ts';

/** The people who have roles in an incident, as its manager is stored, by the keys of the roles. No list is empty. */
export type RoleHolders = Readonly<Record<string, string[]>>;

/** Roles with holders of an incident, those that the configuration has no more included. */
export const MAX_ROLES = 20;
/** Holders of one role. */
export const MAX_HOLDERS = 20;

/** Returns the holders after a request or an import, which leaves roles that it does not name as they are. */
export function holdersAfter(stored: RoleHolders, given: RoleHolders, field = 'roles'): Record<string, string[]> {
  const holders = Object.entries({ ...stored, ...given }).filter(([, people]) => people.length > 0);
  if (holders.length > MAX_ROLES)
    throw invalidRequest(field, `Must have at most ${MAX_ROLES} roles with holders, removed ones included`);
  return Object.fromEntries(holders);
}

/**
 * Checks holders that a request gives: the workspace must have the role, or its stored holders stay or are cleared.
 * @throws DomainError `invalid_request` naming the role
 */
export function checkHolders(given: RoleHolders, stored: RoleHolders, configured: readonly IncidentRole[]): void {
  for (const [key, people] of Object.entries(given)) {
    const storedPeople = ownProperty(stored, key);
    if (storedPeople !== undefined && (people.length === 0 || jsonEqual(people, storedPeople))) continue;
    const role = configured.find((each) => each.key === key);
    if (role === undefined) {
      const keys = configured.map((each) => each.key).join(', ');
      throw invalidRequest(
        `roles.${key}`,
        keys === '' ? "Must be one of the workspace's roles: it has none" : `Must be one of ${keys}`,
      );
    }
    if (people.length > 1 && !role.severalHolders) throw invalidRequest(`roles.${key}`, 'Must have one holder at most');
  }
}
