import type { Permission } from '@tocsin/schemas';

/** From the highest to the lowest. */
export const ROLES = ['owner', 'admin', 'manager', 'member', 'viewer'] as const;
export const SEATS = ['responder', 'none'] as const;

export type Role = (typeof ROLES)[number];
export type Seat = (typeof SEATS)[number];

/** The permissions of each role; the scopes of a key limit it further (contract: Authentication). */
const PERMISSIONS: Record<Role, readonly Permission[]> = {
  owner: ['manage_settings', 'manage_teams', 'view_restricted', 'delete_permanently'],
  admin: ['manage_settings', 'manage_teams'],
  manager: ['manage_teams'],
  member: [],
  viewer: [],
};

export const isAbove = (role: Role, other: Role): boolean => ROLES.indexOf(role) < ROLES.indexOf(other);

export const permissionsOf = (role: Role): readonly Permission[] => PERMISSIONS[role];
