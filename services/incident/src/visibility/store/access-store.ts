import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Principal } from '@tocsin/schemas';

/** That a user read a restricted incident, with one key and within one hour. */
export interface Access {
  id: number;
  userId: number;
  keyName: string | null;
  keyPrefix: string | null;
  firstAt: Instant;
  lastAt: Instant;
  count: number;
}

const PUT = `
  insert into incident_accesses as access
    (workspace_id, incident_id, user_id, key_name, key_prefix, hour, first_at, last_at, count)
  select $1::bigint, incident.id, $3::bigint, $4::text, $5::text, date_trunc('hour', $6::timestamptz, 'UTC'),
    $6::timestamptz, $6::timestamptz, 1
  from unnest((select $2::bigint[])) as incident (id) order by incident.id
  on conflict (workspace_id, incident_id, user_id, key_prefix, hour) do update set
    key_name = excluded.key_name, last_at = greatest(access.last_at, excluded.last_at), count = access.count + 1`;

/** Records that a caller has read restricted incidents (contract: Restricted incidents). */
export async function recordAccess(
  db: Knex,
  { workspace, user_id: userId, key }: Principal,
  { incidentIds, now }: { incidentIds: readonly number[]; now: Instant },
): Promise<void> {
  await query(db, {
    name: 'record-accesses',
    text: PUT,
    values: [workspace.id, incidentIds, userId, key?.name ?? null, key?.prefix ?? '', now],
  });
}

/** Returns the accesses to an incident before an ID, the latest first. */
export const listAccesses = async (
  db: Knex,
  {
    workspaceId,
    incidentId,
    limit,
    before,
  }: Record<'workspaceId' | 'incidentId' | 'limit', number> & {
    before: number | undefined;
  },
): Promise<Access[]> =>
  query<Access>(db, {
    name: 'list-accesses',
    text: `select id, user_id as "userId", key_name as "keyName", nullif(key_prefix, '') as "keyPrefix",
        first_at as "firstAt", last_at as "lastAt", count
      from incident_accesses where workspace_id = $1 and incident_id = $2 and id < $3 order by id desc limit $4`,
    values: [workspaceId, incidentId, before ?? Number.MAX_SAFE_INTEGER, limit],
  });
