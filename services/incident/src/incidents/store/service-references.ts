import type { UnmanagedReferences } from '@tocsin/schemas';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Incident } from '../domain/incident.ts';

/** contract: Catalog */
const MAX_REFERENCES = 100;
/** All values with at least as many incidents have this rank. */
const HIGHEST_RANK = 1_000;

/** Counts one more incident for a value, for each row of `from`. The parameters are SQL. */
export const addReference = ({ workspace, value, from = '' }: { workspace: string; value: string; from?: string }) => `
  insert into service_references as counted (workspace_id, value, incidents)
  select ${workspace}::bigint, ${value}::text, 1 ${from}
  on conflict (workspace_id, value) do update set incidents = counted.incidents + 1`;

const ADD = addReference({ workspace: '$1', value: '$2' });
const REMOVE = 'update service_references set incidents = incidents - 1 where workspace_id = $1 and value = $2';
const DELETE = 'delete from service_references where workspace_id = $1 and value = $2 and incidents <= 0';

type Referring = Pick<Incident, 'workspaceId' | 'service' | 'archivedAt' | 'restricted'>;

/** The counts are shown to all: they say nothing of restricted incidents. */
export const countedValue = ({ service, archivedAt, restricted }: Omit<Referring, 'workspaceId'>) =>
  archivedAt === null && !restricted ? service : '';

/**
 * Counts what a change of an incident does to the values that incidents name as their service. All changes lock values in
 * the same order, so no two of them wait for each other.
 */
export function countReferences(before: Referring, after: Referring): Statement[] {
  const [left, reached] = [countedValue(before), countedValue(after)];
  if (left === reached) return [];
  const { workspaceId } = after;
  const removal = [
    { name: 'remove-service-reference', text: REMOVE, values: [workspaceId, left] },
    { name: 'delete-service-reference', text: DELETE, values: [workspaceId, left] },
  ];
  const addition = [{ name: 'add-service-reference', text: ADD, values: [workspaceId, reached] }];
  const statements = [left === '' ? [] : removal, reached === '' ? [] : addition];
  return (left < reached ? statements : statements.reverse()).flat();
}

/** As `countReferences`, for changes of several incidents of a workspace; a new one has no state before. */
export function countAllReferences(
  workspaceId: number,
  changes: readonly { before: Referring | undefined; after: Referring }[],
): Statement[] {
  const sums = new Map<string, number>();
  const add = (value: string, count: number) => {
    if (value !== '') sums.set(value, (sums.get(value) ?? 0) + count);
  };
  for (const { before, after } of changes) {
    if (before !== undefined) add(countedValue(before), -1);
    add(countedValue(after), 1);
  }
  const counted = [...sums].filter(([, count]) => count !== 0).sort(([a], [b]) => (a < b ? -1 : 1));
  if (counted.length === 0) return [];
  const values = counted.map(([value]) => value);
  return [
    { name: 'add-service-references', text: ADD_ALL, values: [workspaceId, values, counted.map(([, count]) => count)] },
    { name: 'delete-service-references', text: DELETE_ALL, values: [workspaceId, values] },
  ];
}

const ADD_ALL = `
  insert into service_references as counted (workspace_id, value, incidents)
  select $1::bigint, value, incidents
  from unnest($2::text[], $3::bigint[]) with ordinality as reference (value, incidents, place) order by place
  on conflict (workspace_id, value) do update set incidents = counted.incidents + excluded.incidents`;
const DELETE_ALL = `delete from service_references
  where workspace_id = $1 and value = any((select $2::text[])::text[]) and incidents <= 0`;

const unmanagedOf = (ranks: string, order: string) => `
  (select value, incidents from service_references as counted
   where workspace_id = $1 and ${ranks} and not exists (
     select 1 from replica_services where workspace_id = $1 and slug = counted.value)
   order by ${order} desc, value limit ${MAX_REFERENCES + 1})`;

/** Read in the order of an index; only the few values of the highest rank are sorted. */
const UNMANAGED = `
  select value, incidents as incident_count from (
    ${unmanagedOf(`rank = ${HIGHEST_RANK}`, 'incidents')}
    union all
    ${unmanagedOf(`rank < ${HIGHEST_RANK}`, 'rank')}
  ) as most_frequent
  order by incidents desc, value limit ${MAX_REFERENCES + 1}`;

/**
 * Returns the `service` values of a workspace's active incidents that match no slug of the catalog (contract: Catalog), the
 * most frequent first. Archived services count as matches.
 */
export async function unmanagedReferences(db: Knex, workspaceId: number): Promise<UnmanagedReferences> {
  const rows = await query<UnmanagedReferences['references'][number]>(db, {
    name: 'unmanaged-references',
    text: UNMANAGED,
    values: [workspaceId],
  });
  return { references: rows.slice(0, MAX_REFERENCES), truncated: rows.length > MAX_REFERENCES };
}
