import { isAbove, type Role, type Seat } from '../../identity/domain/roles.ts';

export interface GroupRole {
  group: string;
  role: Role;
}

/** Which groups at a provider give roles and seats. */
export interface GroupMapping {
  /** The claim with the groups of a person. */
  claim: string;
  /** Asked for, if the provider needs it to send the claim. */
  scope: string | null;
  /** Without them, roles are given in Tocsin. */
  roles?: readonly GroupRole[] | undefined;
  /** The groups whose members have the seat `responder`. Without them, seats are given in Tocsin. */
  seats?: readonly string[] | undefined;
}

/**
 * Returns the highest role and the seat that the groups of a person give: without any of them they only read. What groups
 * do not give at all is undefined.
 */
export const givenByGroups = (
  mapping: GroupMapping | null,
  groups: readonly string[],
): { role: Role | undefined; seat: Seat | undefined } => ({
  role: mapping?.roles
    ?.filter(({ group }) => groups.includes(group))
    .reduce<Role>((highest, { role }) => (isAbove(role, highest) ? role : highest), 'viewer'),
  seat: mapping?.seats && (mapping.seats.some((group) => groups.includes(group)) ? 'responder' : 'none'),
});
