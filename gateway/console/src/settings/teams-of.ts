import type { Pagination, TeamMembership, TocsinError } from '@tocsin/sdk';
import { useQueries } from '@tanstack/react-query';
import { read } from '../api/client.ts';
import { query } from '../api/query.ts';

/** Users of a request, and memberships of one. */
const PORTION = 100;
/** Requests for the memberships of a portion: more teams of its users are not shown. */
const MAX_PAGES = 5;

type Page = { memberships: TeamMembership[]; pagination: Pagination };

async function readMemberships(userIds: readonly number[]): Promise<TeamMembership[]> {
  const rows: TeamMembership[] = [];
  let cursor: string | undefined;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const { memberships, pagination } = await read<Page>(
      `/team-memberships${query({ user_id: userIds, limit: PORTION, cursor })}`,
    );
    rows.push(...memberships);
    if (!pagination.has_more) break;
    cursor = pagination.next_cursor;
  }
  return rows.filter(({ team_archived_at: archived }) => archived === undefined);
}

/** The active teams of users, by the ID of the user, with one request for many of them; undefined: not read yet. */
export function useTeamsOf(userIds: readonly number[]): (userId: number) => readonly TeamMembership[] | undefined {
  const portions = Array.from({ length: Math.ceil(userIds.length / PORTION) }, (_, index) =>
    userIds.slice(index * PORTION, (index + 1) * PORTION),
  );
  return useQueries({
    queries: portions.map((portion) => ({
      // Below the teams, so that a change of their members makes it old.
      queryKey: ['/teams/members', portion] as const,
      queryFn: async () => readMemberships(portion),
    })),
    combine: (portionsRead: readonly { data: TeamMembership[] | undefined; error: TocsinError | Error | null }[]) => {
      const isRead = new Set(
        portions.flatMap((portion, index) => (portionsRead[index]?.data === undefined ? [] : portion)),
      );
      const byUser = Map.groupBy(
        portionsRead.flatMap(({ data = [] }) => data),
        ({ user_id: user }) => user,
      );
      return (userId: number) => (isRead.has(userId) ? (byUser.get(userId) ?? []) : undefined);
    },
  });
}
