import { type Knex, pipeline } from '@tocsin/postgres';
import { type Instant, ownProperty } from '@tocsin/runtime';
import { idempotencyKeyQuery, type IdempotencyKeyUse, INTERNAL_PATHS } from '@tocsin/schemas';
import { type Contracts, type InternalRoute, internalRoute } from '../contracts/contract.ts';
import { LEASE, lockOf } from './idempotency-keys.ts';

export interface KeyLookup {
  workspaceId: number;
  userId: number;
  key: string;
}

interface KeyRow {
  route: string;
  state: 'claimed' | 'outside' | 'finished';
  status: number | null;
  body: string | null;
  created_at: Instant;
  expires_at: Instant;
  is_abandoned: boolean;
}

type RunningRow = Pick<KeyRow, 'route' | 'created_at' | 'expires_at'>;

const FIND = `
  select route, state, status, body, claimed_at as created_at, claimed_at + make_interval(hours => $5) as expires_at,
    claimed_at < now() - interval '${LEASE}' as is_abandoned
  from idempotency_keys
  where workspace_id = $1 and user_id = $2 and route = any((select $3::text[])::text[]) and key = $4
    and claimed_at >= now() - make_interval(hours => $5)`;

/** A create that is one transaction holds the advisory lock of its key, and nothing else can be seen of it. */
const FIND_RUNNING = `
  select operation.route, activity.xact_start as created_at,
    activity.xact_start + make_interval(hours => $3) as expires_at
  from unnest($1::text[], $2::bigint[]) as operation (route, lock)
  join pg_locks as held
    on held.locktype = 'advisory' and held.granted and held.objsubid = 1
    and held.classid::bigint = (operation.lock >> 32) & 4294967295
    and held.objid::bigint = operation.lock & 4294967295
    and held.database = (select oid from pg_database where datname = current_database())
  join pg_stat_activity as activity on activity.pid = held.pid
  where activity.xact_start is not null`;

/** Finds what the creates of a service have done with the keys of a user (contract: Idempotency). */
export function keyLookup({ database, contracts, hours }: { database: Knex; contracts: Contracts; hours: number }) {
  const creates = new Map(Object.entries(contracts).filter(([, { idempotent }]) => idempotent === true));
  const ids = [...creates.keys()];
  return async ({ workspaceId, userId, key }: KeyLookup): Promise<IdempotencyKeyUse[]> => {
    const locks = ids.map((route) => lockOf({ workspace_id: workspaceId, user_id: userId, route, key }));
    // In this order: what ends in between has a row.
    const [running, rows] = await pipeline<[RunningRow, KeyRow]>(database, [
      { name: 'find-running-idempotency-keys', text: FIND_RUNNING, values: [ids, locks, hours] },
      { name: 'find-idempotency-keys', text: FIND, values: [workspaceId, userId, ids, key, hours] },
    ]);
    const stored = rows.flatMap((row): IdempotencyKeyUse[] => {
      const { route, status, created_at, expires_at } = row;
      const state = stateOf(row);
      if (state === undefined) return [];
      const resource_path = state === 'completed' ? resourcePath(creates.get(route)?.reply.resource, row) : null;
      return [
        {
          operation: route,
          state,
          status: state === 'completed' ? status : null,
          resource_path,
          created_at,
          expires_at,
        },
      ];
    });
    const hasRow = new Set(rows.map(({ route }) => route));
    return [
      ...stored,
      ...running
        .filter(({ route }) => !hasRow.has(route))
        .map(({ route, ...times }) => ({
          ...{ operation: route, state: 'in_progress' as const, status: null, resource_path: null },
          ...times,
        })),
    ];
  };
}

/** The internal route by which the gateway looks up a key. */
export function idempotencyKeyRoute(options: Parameters<typeof keyLookup>[0]): InternalRoute {
  const find = keyLookup(options);
  return internalRoute({
    path: INTERNAL_PATHS.idempotencyKeys,
    callers: ['gateway'],
    query: idempotencyKeyQuery,
    handle: async ({ workspace_id: workspaceId, user_id: userId, key }) => ({
      uses: await find({ workspaceId, userId, key }),
    }),
  });
}

/** Undefined for the claim of a process that crashed: the key is unused again. */
function stateOf({ state, is_abandoned: isAbandoned }: KeyRow): IdempotencyKeyUse['state'] | undefined {
  if (state === 'finished') return 'completed';
  if (!isAbandoned) return 'in_progress';
  return state === 'outside' ? 'unknown' : undefined;
}

/** Fills `{incident.id}` in the path of what a create has made from its response. */
function resourcePath(template: string | undefined, { status, body }: KeyRow): string | null {
  if (template === undefined || body === null || status === null || status >= 300) return null;
  const response: unknown = JSON.parse(body);
  const member = (value: unknown, name: string) =>
    ownProperty((value ?? {}) as Readonly<Record<string, unknown>>, name);
  return template.replaceAll(/\{([\w.]+)\}/g, (_match, path: string) =>
    String(path.split('.').reduce(member, response)),
  );
}
