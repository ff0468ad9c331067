import { column, type ColumnsOf, type ListOptions, resourceStore, rowMapping } from '@tocsin/versioned-resources';
import { type Knex, query } from '@tocsin/postgres';
import { MAX_LEVELS } from '../domain/hierarchy.ts';
import type { OwnerTeam } from '../domain/service.ts';
import { sortKeyOf } from '../domain/sort-key.ts';
import type { NewTeam, Team } from '../domain/team.ts';

/** The column of each property; it has the property's name on the wire. */
export const TEAM_TABLE = {
  id: column('id', 'bigint'),
  revision: column('revision', 'bigint'),
  workspaceId: column('workspace_id', 'bigint'),
  name: column('name', 'text'),
  slug: column('slug', 'text'),
  description: column('description', 'text'),
  parentTeamId: column('parent_team_id', 'bigint'),
  externalId: column('external_id', 'text'),
  memberCount: column('member_count', 'integer'),
  createdAt: column('created_at', 'timestamptz'),
  updatedAt: column('updated_at', 'timestamptz'),
  archivedAt: column('archived_at', 'timestamptz'),
} as const satisfies ColumnsOf<Team>;

export const TEAM_COLUMNS = rowMapping<Team, typeof TEAM_TABLE>(TEAM_TABLE);

const MEMBER_COUNT = `(
  select count(*) from team_members 
    join replica_users on replica_users.workspace_id = team_members.workspace_id
      and replica_users.id = team_members.user_id
  where team_members.workspace_id = teams.workspace_id and team_members.team_id = teams.id and replica_users.active)`;

type ReferencedTeam = OwnerTeam & Pick<Team, 'archivedAt'>;

/** The position of a team in the list. */
export interface TeamPosition {
  sortKey: string;
  id: number;
}

/** The teams of one workspace, over a pool or a transaction. */
export function teamStore(db: Knex, workspaceId: number) {
  const store = resourceStore<Team>(db, workspaceId, {
    table: 'teams',
    label: 'team',
    quota: 'teams',
    toColumns,
    selection: TEAM_COLUMNS.selection,
  });
  const countMembers = async (ids: readonly number[]): Promise<void> => {
    await query(db, {
      name: 'count-members',
      text: `update teams set member_count = ${MEMBER_COUNT}
        where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`,
      values: [workspaceId, ids],
    });
  };
  return {
    ...store,

    /** Counts the members of a team again, after this transaction has locked it and changed them. */
    recount: async (id: number): Promise<void> => countMembers([id]),

    /** Counts the members of the teams of users again, after this transaction has changed whether the users are active. */
    async recountTeamsOf(userIds: readonly number[]): Promise<void> {
      const teams = await query<{ id: number }>(db, {
        name: 'find-teams-of-users',
        text: `select distinct team_id as id from team_members 
          where workspace_id = $1 and user_id = any((select $2::bigint[])::bigint[])`,
        values: [workspaceId, userIds],
      });
      if (teams.length === 0) return;
      const ids = teams.map(({ id }) => id);
      await teamHierarchy(db, workspaceId).lock();
      // A statement of its own: one that waits for a lock counts as of before the wait.
      await query(db, {
        name: 'lock-teams',
        text: `select id from teams where workspace_id = $1 and id = any((select $2::bigint[])::bigint[]) for update`,
        values: [workspaceId, ids],
      });
      await countMembers(ids);
    },

    /** Finds a team to refer to and keeps others from changing it until the transaction ends. */
    async findForReference(id: number): Promise<ReferencedTeam | undefined> {
      const [team] = await query<ReferencedTeam>(db, {
        name: 'lock-referenced-team',
        text: `select id, name, slug, archived_at as "archivedAt" from teams
          where workspace_id = $1 and id = $2 for share`,
        values: [workspaceId, id],
      });
      return team;
    },

    /** Returns teams by name, then ID, starting after a position. */
    async list(options: ListOptions & { after: TeamPosition | undefined }): Promise<Team[]> {
      const { after } = options;
      const teams = store.listed(store.selected(), options).orderBy(['sort_name', 'id']);
      if (after !== undefined) void teams.whereRaw('(sort_name, id) > (?, ?)', [after.sortKey, after.id]);
      return teams;
    },
  };
}

/** The hierarchy of the teams of one workspace, over a pool or a transaction. */
export function teamHierarchy(db: Knex, workspaceId: number) {
  return {
    /**
     * Lets only one transaction at a time lock several teams of the workspace, which could wait for each other in a circle.
     * It also keeps two concurrent moves in the hierarchy, which can each be valid, from forming a cycle. Take this lock before
     * that of any team.
     */
    async lock(): Promise<void> {
      await query(db, {
        name: 'lock-team-hierarchy',
        text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
        values: [`team-hierarchy-${workspaceId}`],
      });
    },

    /** Returns the IDs of a team, its parent, and so on up to the root. */
    async pathToRoot(id: number): Promise<number[]> {
      const rows = await query<{ id: number }>(db, {
        name: 'team-path-to-root',
        text: `with recursive path (id, parent_team_id, level) as (
           select id, parent_team_id, 1 from teams where workspace_id = $1 and id = $2
           union all
           select parent.id, parent.parent_team_id, level + 1 from path
           join teams parent on parent.workspace_id = $1 and parent.id = path.parent_team_id
           where level <= $3
         )
         select id from path order by level`,
        values: [workspaceId, id, MAX_LEVELS],
      });
      return rows.map((row) => row.id);
    },

    /** Returns the number of levels from a team down to its lowest descendant, the team included. */
    async subtreeHeight(id: number): Promise<number> {
      const rows = await query<{ height: number }>(db, {
        name: 'team-subtree-height',
        text: `with recursive subtree (id, level) as (
           select id, 1 from teams where workspace_id = $1 and id = $2
           union all
           select child.id, level + 1 from subtree
           join teams child on child.workspace_id = $1 and child.parent_team_id = subtree.id
           where level <= $3
         )
         select max(level) as height from subtree`,
        values: [workspaceId, id, MAX_LEVELS],
      });
      return rows[0]?.height ?? 0;
    },
  };
}

const toColumns = (team: NewTeam) => ({ ...TEAM_COLUMNS.toRow(team), sort_name: sortKeyOf(team.name) });
