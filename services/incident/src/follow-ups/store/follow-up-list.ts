import { type Knex, query } from '@tocsin/postgres';
import type { Listed } from '@tocsin/versioned-resources';
import { containsText } from '../../shared/store/contains-text.ts';
import { all, join, Sql, sql, statementOf } from '../../shared/store/sql.ts';
import { isOfVisible } from '../../visibility/store/visible.ts';
import { FOLLOW_UP_STATUSES, type FollowUp, type FollowUpStatus } from '../domain/follow-up.ts';
import { LISTED_FOLLOW_UP_COLUMNS } from './follow-up-store.ts';

/** The filters of a list in one form, so that equivalent queries share cursors. Null: any. */
export interface FollowUpFilters {
  statuses: readonly FollowUpStatus[];
  owner: string | null;
  incidentId: number | null;
  /** A day, exclusive. */
  dueBefore: string | null;
  /** Folded. */
  text: string | null;
  /** Of the incident. */
  service?: string;
  teamId?: number;
}

/** A place in the order of lists. Without a due date, `due` is `infinity`. */
export interface FollowUpPosition {
  due: string;
  id: number;
}

export interface FollowUpPage {
  listed: (Listed<FollowUp> & FollowUpPosition)[];
  /** If a search ends early: the last one that was compared. */
  searchedUntil: FollowUpPosition | undefined;
}

/** Bytes of text, and follow-ups, that a page of a search compares. */
const MAX_COMPARED_BYTES = 8 * 1_048_576;
const MAX_COMPARED = 5_000;

const LISTED = new Sql(LISTED_FOLLOW_UP_COLUMNS, []);
const DUE = sql`coalesce(due_on, 'infinity'::date)`;

/** Lists follow-ups by due date and ID, those without a due date last. */
export async function listFollowUps(
  db: Knex,
  list: { workspaceId: number; filters: FollowUpFilters; after: FollowUpPosition | undefined; limit: number },
): Promise<FollowUpPage> {
  const matches = matchConditions(list);
  const isOfPage = sql`follow_up.workspace_id = ${list.workspaceId} and follow_up.id = page.id`;
  if (matches.length === 0) {
    const listed = await query<FollowUpPage['listed'][number]>(
      db,
      statementOf(sql`select ${LISTED}, page.due::text from (${positions(list, list.limit)}) as page
        join follow_ups as follow_up on ${isOfPage} order by page.due, page.id`),
    );
    return { listed, searchedUntil: undefined };
  }
  type SearchedRow = FollowUpPage['listed'][number] & { isMatch: boolean; isLast: boolean; isEnd: boolean };
  const rows = await query<SearchedRow>(
    db,
    statementOf(sql`
      with portion as materialized (${positions(list, MAX_COMPARED)}),
      sized as (
        select id, due, cost, sum(cost) over (order by due, id) as compared,
          lead(id) over (order by due, id) is null as is_final, count(*) over () as count
        from portion),
      searched as (
        select id, due, is_final or compared >= ${MAX_COMPARED_BYTES} as is_last,
          is_final and count < ${MAX_COMPARED} and compared < ${MAX_COMPARED_BYTES} as is_end
        from sized where compared - cost < ${MAX_COMPARED_BYTES})
      select ${LISTED}, page.due::text, is_match as "isMatch", is_last as "isLast", is_end as "isEnd"
      from (
        select searched.id, searched.due, searched.is_last, searched.is_end, ${all(matches)} as is_match
        from searched
        join follow_ups as own on own.workspace_id = ${list.workspaceId} and own.id = searched.id) as page
      join follow_ups as follow_up on ${isOfPage}
      where is_match or is_last order by page.due, page.id limit ${list.limit}`),
  );
  const last = rows.at(-1);
  const isComplete = last === undefined || last.isEnd || !last.isLast;
  return { listed: rows.filter(({ isMatch }) => isMatch), searchedUntil: isComplete ? undefined : last };
}

/** What is compared of each follow-up `own` that meets the other filters, which no index knows. */
function matchConditions({
  workspaceId,
  filters,
}: Pick<Parameters<typeof listFollowUps>[1], 'workspaceId' | 'filters'>) {
  const { text, service, teamId } = filters;
  const ofIncident = [
    ...(service === undefined ? [] : [sql`incident_of.service = ${service}`]),
    ...(teamId === undefined ? [] : [sql`incident_of.team_id = ${teamId}`]),
  ];
  return [
    ...(text === null
      ? []
      : [sql`(${containsText(sql`own.texts_folded[1]`, text)} or ${containsText(sql`own.texts_folded[2]`, text)})`]),
    ...(ofIncident.length === 0
      ? []
      : [
          sql`exists (select from incidents as incident_of
            where incident_of.workspace_id = ${workspaceId} and incident_of.id = own.incident_id and ${all(ofIncident)})`,
        ]),
  ];
}

/** The next places of each status, along its index, with the bytes of text to compare. */
function positions(
  { workspaceId, filters, after }: Pick<Parameters<typeof listFollowUps>[1], 'workspaceId' | 'filters' | 'after'>,
  limit: number,
): Sql {
  const { statuses, owner, incidentId, dueBefore } = filters;
  const conditions = [
    sql`workspace_id = ${workspaceId}`,
    isOfVisible(workspaceId, sql`follow_ups.incident_id`),
    ...(owner === null ? [] : [sql`owner = ${owner}`]),
    ...(incidentId === null ? [] : [sql`incident_id = ${incidentId}`]),
    ...(dueBefore === null ? [] : [sql`${DUE} < ${dueBefore}::date`]),
    ...(after === undefined ? [] : [sql`(${DUE}, id) > (${after.due}::date, ${after.id}::bigint)`]),
  ];
  const branches = (statuses.length === 0 ? FOLLOW_UP_STATUSES : statuses).map(
    (status) => sql`(
      select id, ${DUE} as due, 256 + octet_length(title) + octet_length(description) as cost from follow_ups
      where ${all([...conditions, sql`status = ${status}`])} order by ${DUE}, id limit ${limit})`,
  );
  return sql`select id, due, cost from (${join(branches, ' union all ')}) as branch order by due, id limit ${limit}`;
}
