import { isAbove, type Role } from '../../identity/domain/roles.ts';

/** Which groups at a provider give which roles. */
export interface GroupRoles {
  /** The claim with the groups of a person. */
  claim: string;
  /** Asked for, if the provider needs it to send the claim. */
  scope: string | null;
  roles: readonly { group: string; role: Role }[];
}

/** Returns the highest role that the groups of a person give: without any of them they only read. */
export const roleOfGroups = ({ roles }: GroupRoles, groups: readonly string[]): Role =>
  roles
    .filter(({ group }) => groups.includes(group))
    .reduce<Role>((highest, { role }) => (isAbove(role, highest) ? role : highest), 'viewer');
