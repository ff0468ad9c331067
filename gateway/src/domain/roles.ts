import type { Permission } from '@tocsin/http';

export const ROLES = ['owner', 'admin', 'manager', 'member', 'viewer'] as const;
export const SEATS = ['responder', 'none'] as const;

export type Role = (typeof ROLES)[number];
export type Seat = (typeof SEATS)[number];

/** What each role may do besides what its keys' scopes allow (contract: Authentication). */
const PERMISSIONS: Record<Role, readonly Permission[]> = {
  owner: ['manage_settings', 'manage_teams'],
  admin: ['manage_settings', 'manage_teams'],
  manager: ['manage_teams'],
  member: [],
  viewer: [],
};

export const holdsPermission = (role: Role, permission: Permission): boolean => PERMISSIONS[role].includes(permission);
