import { notFound } from '@tocsin/http';
import { column, type ColumnsOf, type RowOf, resourceTable, rowMapping } from '@tocsin/resources';
import type { Knex } from '@tocsin/runtime';
import { MAX_LEVELS } from '../domain/hierarchy.ts';
import type { OwnerTeam } from '../domain/service.ts';
import { sortKeyOf } from '../domain/sort-key.ts';
import type { NewTeam, Team } from '../domain/team.ts';

const TEAM_TABLE = {
  id: column('id', 'bigint'),
  workspaceId: column('workspace_id', 'bigint'),
  revision: column('revision', 'bigint'),
  name: column('name', 'text'),
  slug: column('slug', 'text'),
  description: column('description', 'text'),
  parentTeamId: column('parent_team_id', 'bigint'),
  createdAt: column('created_at', 'timestamptz'),
  updatedAt: column('updated_at', 'timestamptz'),
  archivedAt: column('archived_at', 'timestamptz'),
} as const satisfies ColumnsOf<Omit<Team, 'memberCount'>>;

const COLUMNS = rowMapping<Omit<Team, 'memberCount'>, typeof TEAM_TABLE>(TEAM_TABLE);

type TeamRow = RowOf<Omit<Team, 'memberCount'>, typeof TEAM_TABLE> & { member_count: number };

const MEMBER_COUNT = `(
  select count(*) from team_members join replica_users on replica_users.id = team_members.user_id
  where team_members.team_id = teams.id and replica_users.active) as member_count`;

type ReferencedTeam = OwnerTeam & Pick<Team, 'archivedAt'>;

/** The position of a team in the list. */
export interface TeamPosition {
  sortKey: string;
  id: number;
}

/** The teams of one workspace, over a pool or a transaction. */
export function teamStore(db: Knex, workspaceId: number) {
  const { lock, checkQuota, resolveSlug, insert, update } = resourceTable<Team>(db, {
    table: 'teams',
    label: 'team',
    quota: 'teams',
    workspaceId,
    toColumns,
  });
  const teams = () => db('teams').where({ workspace_id: workspaceId });
  const withMemberCount = () => teams().select<TeamRow[]>([...COLUMNS.names, db.raw(MEMBER_COUNT)]);
  const get = async (id: number): Promise<Team> => {
    const [row] = await withMemberCount().where({ id });
    if (row === undefined) throw notFound('The team');
    return toTeam(row);
  };
  return {
    /** @throws DomainError `not_found` */
    get,

    /** Locks the team until the transaction ends and returns it. @throws DomainError `not_found` */
    async getForUpdate(id: number): Promise<Team> {
      // Two statements: one that waited for the lock would count the members as they were before the wait.
      await lock(id);
      return get(id);
    },

    /** Finds a team to refer to and keeps others from changing it until the transaction ends. */
    findForReference: async (id: number): Promise<ReferencedTeam | undefined> =>
      teams()
        .where({ id })
        .forShare()
        .first<ReferencedTeam | undefined>('id', 'name', 'slug', 'archived_at as archivedAt'),

    /**
     * Lets only one transaction at a time move teams in the workspace's hierarchy: two concurrent moves can each be valid and
     * together form a cycle. Take this lock before that of any team, because such a transaction locks two teams.
     */
    async lockHierarchy(): Promise<void> {
      await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`team-hierarchy-${workspaceId}`]);
    },

    /** Returns the IDs of a team, its parent, and so on up to the root. */
    async pathToRoot(id: number): Promise<number[]> {
      const { rows } = await db.raw<{ rows: { id: number }[] }>(
        `with recursive path (id, parent_team_id, level) as (
           select id, parent_team_id, 1 from teams where workspace_id = ? and id = ?
           union all
           select parent.id, parent.parent_team_id, level + 1 from path join teams parent on parent.id = path.parent_team_id
           where level <= ?
         )
         select id from path order by level`,
        [workspaceId, id, MAX_LEVELS],
      );
      return rows.map((row) => row.id);
    },

    /** Returns the number of levels from a team down to its lowest descendant, the team included. */
    async subtreeHeight(id: number): Promise<number> {
      const { rows } = await db.raw<{ rows: { height: number }[] }>(
        `with recursive subtree (id, level) as (
           select id, 1 from teams where workspace_id = ? and id = ?
           union all
           select child.id, level + 1 from subtree join teams child on child.parent_team_id = subtree.id where level <= ?
         )
         select max(level) as height from subtree`,
        [workspaceId, id, MAX_LEVELS],
      );
      return rows[0]?.height ?? 0;
    },

    checkQuota,
    resolveSlug,
    insert,
    update,

    /** Returns teams by name, then ID, starting after a position. */
    async list(options: { limit: number; includeArchived: boolean; after: TeamPosition | undefined }): Promise<Team[]> {
      const query = withMemberCount().orderBy(['sort_name', 'id']).limit(options.limit);
      if (!options.includeArchived) void query.whereNull('archived_at');
      if (options.after !== undefined) {
        void query.whereRaw('(sort_name, id) > (?, ?)', [options.after.sortKey, options.after.id]);
      }
      return (await query).map(toTeam);
    },

    /** Returns the teams with these IDs in any order. */
    listByIds: async (ids: readonly number[]): Promise<Team[]> =>
      (await withMemberCount().whereIn('id', ids)).map(toTeam),
  };
}

const toTeam = (row: TeamRow): Team => ({ ...COLUMNS.toEntity(row), memberCount: row.member_count });

const toColumns = (team: NewTeam) => ({ ...COLUMNS.toRow(team), sort_name: sortKeyOf(team.name) });
