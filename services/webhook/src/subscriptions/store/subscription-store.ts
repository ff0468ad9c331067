import { notFound } from '@tocsin/http';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import { entriesOf, type Instant, type Sealed } from '@tocsin/runtime';
import type { Subscription } from '../domain/subscription.ts';

/** The column of each property. */
const COLUMNS = {
  id: 'id',
  workspaceId: 'workspace_id',
  name: 'name',
  origin: 'origin',
  host: 'host',
  eventTypes: 'event_types',
  headerNames: 'header_names',
  includeRestricted: 'include_restricted',
  status: 'status',
  verified: 'verified',
  consecutiveFailures: 'consecutive_failures',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  lastSuccessAt: 'last_success_at',
  lastFailureAt: 'last_failure_at',
} as const satisfies Record<keyof Subscription, string>;

const NAMES = Object.values(COLUMNS);
/** A select list whose rows are subscriptions. */
const SELECTION = entriesOf(COLUMNS)
  .map(([property, name]) => `${name} as "${property}"`)
  .join(', ');

/** contract: Webhooks */
const MAX_LISTED = 1_000;
/** Revoked subscriptions that are deleted at once. */
const BATCH = 1_000;
/** As the index of the subscriptions in use has it: a workspace may have many revoked ones. */
const IN_USE = `status <> 'revoked'`;
const REVOKED = `status = 'revoked'`;

const LISTED = `${NAMES.join(', ')}, seq`;
const latest = (condition: string) => `
  select ${LISTED} from subscriptions where workspace_id = $1 and ${condition}
  order by seq desc limit ${MAX_LISTED}`;

const LIST = `
  select ${SELECTION} from (
    select ${LISTED} from ((${latest(IN_USE)}) union all (${latest(REVOKED)})) as candidates
    order by ${REVOKED}, seq desc limit ${MAX_LISTED}
  ) as listed
  order by seq`;

const SELECT_ONE = `select ${SELECTION} from subscriptions where workspace_id = $1 and id = $2`;

const INSERTED = [...NAMES, 'url_key_id', 'url_ciphertext'];
const INSERT = `insert into subscriptions (${INSERTED.join(', ')})
  values (${INSERTED.map((_, index) => `$${index + 1}`).join(', ')})`;

const SET_URL = 'update subscriptions set url_key_id = $3, url_ciphertext = $4 where workspace_id = $1 and id = $2';

const [ID, WORKSPACE_ID, ...CHANGED] = NAMES;
const UPDATE = `
  update subscriptions set ${CHANGED.map((name, index) => `${name} = $${index + 3}`).join(', ')}
  where ${ID} = $1 and ${WORKSPACE_ID} = $2`;

/** Subscriptions of one workspace, over a pool or a transaction. */
export function subscriptionStore(db: Knex, workspaceId: number) {
  const one = ([subscription]: Subscription[]): Subscription => {
    if (subscription === undefined) throw notFound('The webhook');
    return subscription;
  };
  return {
    /** All subscriptions that are not revoked and the latest revoked ones, `MAX_LISTED` in all, oldest first. */
    list: async (): Promise<Subscription[]> =>
      query<Subscription>(db, { name: 'list-subscriptions', text: LIST, values: [workspaceId] }),

    /** @throws DomainError `not_found` */
    get: async (id: string): Promise<Subscription> =>
      one(await query<Subscription>(db, { name: 'get-subscription', text: SELECT_ONE, values: [workspaceId, id] })),

    /** Locks the subscription until the transaction ends. @throws DomainError `not_found` */
    getForUpdate: async (id: string): Promise<Subscription> =>
      one(
        await query<Subscription>(db, {
          name: 'lock-subscription',
          text: `${SELECT_ONE} for update`,
          values: [workspaceId, id],
        }),
      ),

    async countUnrevoked(): Promise<number> {
      const [row] = await query<{ count: number }>(db, {
        name: 'count-unrevoked-subscriptions',
        text: `select count(id) as count from subscriptions where workspace_id = $1 and ${IN_USE}`,
        values: [workspaceId],
      });
      return row?.count ?? 0;
    },

    /** When the nth-latest subscription was created, revoked ones included; undefined if there are fewer. */
    async createdAt(nthLatest: number): Promise<Instant | undefined> {
      const [row] = await query<{ createdAt: Instant }>(db, {
        text: `select created_at as "createdAt" from subscriptions where workspace_id = $1
          order by seq desc offset $2 limit 1`,
        values: [workspaceId, nthLatest - 1],
      });
      return row?.createdAt;
    },

    async insert(subscription: Subscription, url: Sealed): Promise<void> {
      const values = [...valuesOf(subscription), url.keyId, url.ciphertext];
      await query(db, { name: 'insert-subscription', text: INSERT, values });
    },

    /** Updates a subscription that this transaction has locked. */
    async update(subscription: Subscription): Promise<void> {
      await query(db, { name: 'update-subscription', text: UPDATE, values: valuesOf(subscription) });
    },

    /** The encrypted URL; undefined when the subscription is revoked. */
    async findUrl(id: string): Promise<Sealed | undefined> {
      const [url] = await query<Sealed>(db, {
        name: 'find-url',
        text: `select url_key_id as "keyId", url_ciphertext as ciphertext from subscriptions
          where workspace_id = $1 and id = $2 and url_key_id is not null and url_ciphertext is not null`,
        values: [workspaceId, id],
      });
      return url;
    },

    async setUrl(id: string, { keyId, ciphertext }: Sealed): Promise<void> {
      await query(db, { name: 'set-url', text: SET_URL, values: [workspaceId, id, keyId, ciphertext] });
    },

    async deleteUrl(id: string): Promise<void> {
      await query(db, { name: 'set-url', text: SET_URL, values: [workspaceId, id, null, null] });
    },
  };
}

/** The lateral join looks at one subscription of each workspace: the planner might scan the whole table. */
const FIND_SUBSCRIBED = `
  select workspace.id from unnest((select $1::bigint[])) as workspace (id)
  cross join lateral (
    select id from subscriptions
    where workspace_id = workspace.id and ${IN_USE} and $2 = any(event_types) limit 1
  ) as subscribed`;

/** Finds those of the workspaces that have a subscription to an event type which is not revoked. */
export const findSubscribed = (eventType: string, workspaceIds: readonly number[]): Statement<{ id: number }> => ({
  name: 'find-subscribed',
  text: FIND_SUBSCRIBED,
  values: [workspaceIds, eventType],
});

const LOCK_FOR_EVENTS = `
  select id, workspace_id as "workspaceId", status, include_restricted as "includeRestricted" from subscriptions
  where workspace_id = any((select $1::bigint[])::bigint[]) and ${IN_USE} and $2 = any(event_types)
  order by workspace_id, seq for share`;

/**
 * Locks the subscriptions of workspaces to an event type that are not revoked, and reads them by workspace and in the
 * order of their creation. The lock prevents them from being paused or revoked before the transaction ends.
 */
export const lockForEvents = (
  eventType: string,
  workspaceIds: readonly number[],
): Statement<Pick<Subscription, 'id' | 'workspaceId' | 'status' | 'includeRestricted'>> => ({
  name: 'lock-subscriptions-for-events',
  text: LOCK_FOR_EVENTS,
  values: [workspaceIds, eventType],
});

/**
 * Deletes some of the subscriptions that were revoked until a time, with what is left of them; returns whether there may
 * be more. Nothing changes a revoked subscription, so the time of its last change is that of its revocation.
 */
export async function forgetRevoked(db: Knex, until: Instant): Promise<boolean> {
  const deleted = await query(db, {
    text: `delete from subscriptions
      where (workspace_id, id) in (select workspace_id, id from subscriptions where ${REVOKED} and updated_at <= $1 limit ${BATCH}) returning id`,
    values: [until],
  });
  return deleted.length === BATCH;
}

const LOCK_WORKSPACES = `
  select pg_advisory_xact_lock(hashtextextended('tocsin-webhook-workspace-' || id, 0))
  from unnest($1::bigint[]) as workspace (id)`;

/**
 * Serializes transactions that count and add what a workspace has a limited number of, until the transaction ends. The
 * workspaces are locked in the order of their IDs, so that transactions cannot wait for each other in a circle.
 */
export async function lockWorkspaces(trx: Knex.Transaction, workspaceIds: readonly number[]): Promise<void> {
  await query(trx, lockStatement(workspaceIds));
}

/** What `lockWorkspaces` runs. */
export const lockStatement = (workspaceIds: readonly number[]): Statement => ({
  name: 'lock-workspaces',
  text: LOCK_WORKSPACES,
  values: [workspaceIds.toSorted((a, b) => a - b)],
});

/** In the order of `NAMES`. */
const valuesOf = (subscription: Subscription): unknown[] =>
  entriesOf(COLUMNS).map(([property]) => subscription[property]);
