import type { Instant } from '@tocsin/runtime';

export const MEMBER_ROLES = ['member', 'lead'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** An active user who is a member of a team (contract: Catalog). */
export interface Member {
  userId: number;
  name: string;
  email: string;
  role: MemberRole;
  createdAt: Instant;
  updatedAt: Instant;
}

/** That a user is a member of a team, seen from the user. */
export interface Membership {
  userId: number;
  teamId: number;
  teamName: string;
  teamArchivedAt: Instant | null;
  role: MemberRole;
}
