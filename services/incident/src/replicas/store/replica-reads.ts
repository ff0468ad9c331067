import { fold } from '@tocsin/schemas';
import type { Instant } from '@tocsin/runtime';
import { type Knex, query } from '@tocsin/postgres';

/** The replicas of the teams of one workspace, archived ones included, over a pool or a transaction. */
export function replicatedTeams(db: Knex, workspaceId: number) {
  const findTeams = async (ids: readonly number[]) =>
    query<{ id: number; name: string; slug: string; archivedAt: Instant | null }>(db, {
      name: 'find-teams',
      text: `select id, name, slug, archived_at as "archivedAt" from replica_teams
        where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`,
      values: [workspaceId, ids],
    });
  return {
    /** Returns those of these team IDs that belong to active teams. */
    async findActive(ids: readonly number[]): Promise<Set<number>> {
      const teams = await findTeams(ids);
      return new Set(teams.filter(({ archivedAt }) => archivedAt === null).map(({ id }) => id));
    },

    /** Returns the IDs of the teams with these slugs. */
    async findIds(slugs: readonly string[]): Promise<Map<string, number>> {
      const rows = await query<{ id: number; slug: string }>(db, {
        name: 'find-teams-by-slug',
        text: `select id, slug from replica_teams
          where workspace_id = $1 and slug = any((select $2::text[])::text[])`,
        values: [workspaceId, slugs],
      });
      return new Map(rows.map(({ id, slug }) => [slug, id]));
    },

    /** Returns the slugs of the teams with these IDs. */
    async findSlugs(ids: readonly number[]): Promise<Map<number, string>> {
      return new Map((await findTeams(ids)).map(({ id, slug }) => [id, slug]));
    },

    /** Returns the names of the teams with these IDs. */
    async findNames(ids: readonly number[]): Promise<Map<number, string>> {
      return new Map((await findTeams(ids)).map(({ id, name }) => [id, name]));
    },
  };
}

/** An active service as monitoring systems call it. */
export interface MonitoredService {
  slug: string;
  /** Its active owner team. */
  ownerTeamId: number | null;
}

/** The replicas of the services of one workspace, over a pool or a transaction. */
export function replicatedServices(db: Knex, workspaceId: number) {
  return {
    /** Returns the tier of the service with this slug, archived ones included; null without one. */
    async findTier(slug: string): Promise<string | null> {
      const [row] = await query<{ tier: string }>(db, {
        name: 'find-tier-of-service',
        text: 'select tier from replica_services where workspace_id = $1 and slug = $2',
        values: [workspaceId, slug],
      });
      return row?.tier ?? null;
    },

    /** Returns the owner team of the active service with this slug, unless the team is archived. */
    async findOwnerTeam(slug: string): Promise<number | null> {
      const [row] = await query<{ owner_team_id: number | null }>(db, {
        name: 'find-owner-team',
        text: `select service.owner_team_id from replica_services as service
        left join replica_teams as team
          on team.workspace_id = service.workspace_id and team.id = service.owner_team_id
        where service.workspace_id = $1 and service.slug = $2 and service.archived_at is null
          and team.archived_at is null`,
        values: [workspaceId, slug.normalize('NFC')],
      });
      return row?.owner_team_id ?? null;
    },

    /**
     * Returns the active services that have these slugs or, if none has, these names in monitoring systems, by the folded
     * ones of those.
     */
    async findMonitored(names: readonly string[]): Promise<Map<string, MonitoredService>> {
      const rows = await query<MonitoredService & { names: string[] }>(db, {
        name: 'find-monitored-services',
        text: `select service.slug, service.observability_names as names,
          case when team.archived_at is null then service.owner_team_id end as "ownerTeamId"
        from replica_services as service left join replica_teams as team
          on team.workspace_id = service.workspace_id and team.id = service.owner_team_id
        where service.workspace_id = $1 and service.archived_at is null
          and (service.slug = any($2) or service.observability_names && $3)
        order by service.slug desc`,
        values: [workspaceId, names.map((name) => name.normalize('NFC').toLowerCase()), names.map(fold)],
      });
      const byName = new Map(rows.flatMap((row) => row.names.map((name) => [name, row] as const)));
      for (const row of rows) byName.set(fold(row.slug), row);
      return byName;
    },
  };
}

/** Returns those of these user IDs that belong to active users. */
export async function findActiveUsers(db: Knex, workspaceId: number, ids: readonly number[]): Promise<Set<number>> {
  const rows = await query<{ id: number }>(db, {
    name: 'find-active-users',
    text: `select id from replica_users
      where workspace_id = $1 and active and id = any((select $2::bigint[])::bigint[])`,
    values: [workspaceId, ids],
  });
  return new Set(rows.map(({ id }) => id));
}
