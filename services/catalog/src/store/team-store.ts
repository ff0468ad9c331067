import { DomainError, notFound } from '@tocsin/http';
import { brokenConstraint, type Instant, type Knex } from '@tocsin/runtime';
import { MAX_LEVELS } from '../domain/hierarchy.ts';
import type { OwnerTeam } from '../domain/service.ts';
import { sortName } from '../domain/sort-name.ts';
import type { NewTeam, Team } from '../domain/team.ts';

interface TeamRow {
  id: number;
  workspace_id: number;
  revision: number;
  name: string;
  slug: string;
  description: string | null;
  parent_team_id: number | null;
  member_count: number;
  created_at: Instant;
  updated_at: Instant;
  archived_at: Instant | null;
}

const COLUMNS = [
  'id',
  'workspace_id',
  'revision',
  'name',
  'slug',
  'description',
  'parent_team_id',
  'created_at',
  'updated_at',
  'archived_at',
];

const MEMBER_COUNT = `(
  select count(*) from team_members join replica_users on replica_users.id = team_members.user_id
  where team_members.team_id = teams.id and replica_users.active) as member_count`;

/** The position of a team in the list. */
export interface TeamPosition {
  sortName: string;
  id: number;
}

/** Teams of one workspace, over a pool or a transaction. */
export function teamStore(db: Knex, workspaceId: number) {
  const teams = () => db('teams').where({ workspace_id: workspaceId });
  const whole = () => teams().select<TeamRow[]>([...COLUMNS, db.raw(MEMBER_COUNT)]);
  const get = async (id: number): Promise<Team> => {
    const [row] = await whole().where({ id });
    if (row === undefined) throw notFound('The team');
    return toTeam(row);
  };
  return {
    /** @throws DomainError `not_found` */
    get,

    /** Locked until the transaction ends, so that what is judged is what is changed. @throws DomainError `not_found` */
    async getForUpdate(id: number): Promise<Team> {
      // First the lock: a count made by the same statement would be as old as the wait for it.
      await teams().where({ id }).forUpdate().select('id');
      return get(id);
    },

    /** A team to refer to: it stays as it is until the transaction ends. */
    async findForReference(id: number): Promise<(OwnerTeam & Pick<Team, 'archivedAt'>) | undefined> {
      const row = await teams()
        .where({ id })
        .forShare()
        .first<Pick<TeamRow, 'id' | 'name' | 'slug' | 'archived_at'> | undefined>('id', 'name', 'slug', 'archived_at');
      return row && { id: row.id, name: row.name, slug: row.slug, archivedAt: row.archived_at };
    },

    /**
     * Lets one transaction at a time move teams in the workspace's hierarchy: two that move at once could each be right and
     * make a circle together. It comes before the lock of any team, since such a transaction locks two of them.
     */
    async lockHierarchy(): Promise<void> {
      await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`team-hierarchy-${workspaceId}`]);
    },

    /** The IDs of a team, its parent, and so on to the root. */
    async lineOf(id: number): Promise<number[]> {
      const { rows } = await db.raw<{ rows: { id: number }[] }>(
        `with recursive line (id, parent_team_id, level) as (
           select id, parent_team_id, 1 from teams where workspace_id = ? and id = ?
           union all
           select parent.id, parent.parent_team_id, level + 1 from line join teams parent on parent.id = line.parent_team_id
           where level <= ?
         )
         select id from line order by level`,
        [workspaceId, id, MAX_LEVELS],
      );
      return rows.map((row) => row.id);
    },

    /** Levels from a team down to its lowest descendant, itself counted. */
    async heightOf(id: number): Promise<number> {
      const { rows } = await db.raw<{ rows: { height: number }[] }>(
        `with recursive below (id, level) as (
           select id, 1 from teams where workspace_id = ? and id = ?
           union all
           select child.id, level + 1 from below join teams child on child.parent_team_id = below.id where level <= ?
         )
         select max(level) as height from below`,
        [workspaceId, id, MAX_LEVELS],
      );
      return rows[0]?.height ?? 0;
    },

    /** @throws DomainError `duplicate_slug` for one that any team of the workspace has or had */
    async insert(team: NewTeam, version: number): Promise<Team> {
      try {
        const [row] = await db('teams')
          .insert({ ...toRow(team), workspace_id: workspaceId, slug: team.slug, created_at: team.createdAt, version })
          .returning<{ id: number }[]>('id');
        return { ...team, id: (row as { id: number }).id };
      } catch (error) {
        if (brokenConstraint(error) === 'teams_workspace_id_slug_unique') {
          throw new DomainError('duplicate_slug', `A team has or had the slug ${team.slug}`, { field: 'slug' });
        }
        throw error;
      }
    },

    /** Writes a team that this transaction has locked. */
    async update(team: Team, version: number): Promise<void> {
      await teams()
        .where({ id: team.id, revision: team.revision - 1 })
        .update({ ...toRow(team), version });
    },

    /** By name, then ID, after a position in that order. */
    async list(options: { limit: number; includeArchived: boolean; after: TeamPosition | undefined }): Promise<Team[]> {
      const query = whole().orderBy(['sort_name', 'id']).limit(options.limit);
      if (!options.includeArchived) void query.whereNull('archived_at');
      if (options.after !== undefined) {
        void query.whereRaw('(sort_name, id) > (?, ?)', [options.after.sortName, options.after.id]);
      }
      return (await query).map(toTeam);
    },

    /** Those that changed after a version. */
    changedSince: async (version: number): Promise<Team[]> =>
      (await whole().where('version', '>', version)).map(toTeam),
  };
}

function toTeam(row: TeamRow): Team {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    revision: row.revision,
    name: row.name,
    slug: row.slug,
    description: row.description,
    parentTeamId: row.parent_team_id,
    memberCount: row.member_count,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
  };
}

/** The columns that a change may write. */
function toRow(team: NewTeam) {
  return {
    revision: team.revision,
    name: team.name,
    sort_name: sortName(team.name),
    description: team.description,
    parent_team_id: team.parentTeamId,
    updated_at: team.updatedAt,
    archived_at: team.archivedAt,
  };
}
