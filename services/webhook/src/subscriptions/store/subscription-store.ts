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
  status: 'status',
  verified: 'verified',
  consecutiveFailures: 'consecutive_failures',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  lastSuccessAt: 'last_success_at',
  lastFailureAt: 'last_failure_at',
} as const satisfies Record<keyof Subscription, string>;

/** contract: Webhooks */
const MAX_LISTED = 1_000;
/** Revoked subscriptions that are deleted at once. */
const BATCH = 1_000;
/** As the index of the subscriptions in use has it: a workspace may have many revoked ones. */
const IN_USE = `status <> 'revoked'`;
const REVOKED = `status = 'revoked'`;

/** Subscriptions of one workspace, over a pool or a transaction. */
export function subscriptionStore(db: Knex, workspaceId: number) {
  const own = () => db('subscriptions').where({ workspace_id: workspaceId });
  const one = ([subscription]: Subscription[]): Subscription => {
    if (subscription === undefined) throw notFound('The webhook');
    return subscription;
  };
  return {
    /** All subscriptions that are not revoked and the latest revoked ones, `MAX_LISTED` in all, oldest first. */
    async list(): Promise<Subscription[]> {
      const columns = [...Object.values(COLUMNS), 'seq'];
      const latest = (condition: string) =>
        own().select(columns).whereRaw(condition).orderBy('seq', 'desc').limit(MAX_LISTED);
      const candidates = db
        .from(latest(IN_USE).as('in_use'))
        .select(columns)
        .unionAll([latest(REVOKED)], true);
      const listed = db
        .from(candidates.as('candidates'))
        .select(columns)
        .orderByRaw(`${REVOKED}, seq desc`)
        .limit(MAX_LISTED)
        .as('listed');
      return db.from(listed).select<Subscription[]>(COLUMNS).orderBy('seq');
    },

    /** @throws DomainError `not_found` */
    get: async (id: string): Promise<Subscription> => one(await own().where({ id }).select<Subscription[]>(COLUMNS)),

    /** Locks the subscription until the transaction ends. @throws DomainError `not_found` */
    getForUpdate: async (id: string): Promise<Subscription> =>
      one(await own().where({ id }).forUpdate().select<Subscription[]>(COLUMNS)),

    async countUnrevoked(): Promise<number> {
      const [row] = await own().whereRaw(IN_USE).count<{ total: number }[]>({ total: 'id' });
      return row?.total ?? 0;
    },

    /** When the nth-latest subscription was created, revoked ones included; undefined if there are fewer. */
    async createdAt(nthLatest: number): Promise<Instant | undefined> {
      const [createdAt] = await own()
        .orderBy('seq', 'desc')
        .offset(nthLatest - 1)
        .limit(1)
        .pluck<Instant[]>('created_at');
      return createdAt;
    },

    async insert(subscription: Subscription, url: Sealed): Promise<void> {
      await db('subscriptions').insert({
        ...toRow(subscription),
        url_key_id: url.keyId,
        url_ciphertext: url.ciphertext,
      });
    },

    /** Updates a subscription that this transaction has locked. */
    async update(subscription: Subscription): Promise<void> {
      await own().where({ id: subscription.id }).update(toRow(subscription));
    },

    /** The encrypted URL; undefined when the subscription is revoked. */
    async findUrl(id: string): Promise<Sealed | undefined> {
      return own()
        .where({ id })
        .whereNotNull('url_key_id')
        .whereNotNull('url_ciphertext')
        .first<Sealed | undefined>('url_key_id as keyId', 'url_ciphertext as ciphertext');
    },

    async setUrl(id: string, { keyId, ciphertext }: Sealed): Promise<void> {
      await own().where({ id }).update({ url_key_id: keyId, url_ciphertext: ciphertext });
    },

    async deleteUrl(id: string): Promise<void> {
      await own().where({ id }).update({ url_key_id: null, url_ciphertext: null });
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
  select id, workspace_id as "workspaceId", status from subscriptions
  where workspace_id = any((select $1::bigint[])::bigint[]) and ${IN_USE} and $2 = any(event_types)
  order by workspace_id, seq for share`;

/**
 * Locks the subscriptions of workspaces to an event type that are not revoked, and reads them by workspace and in the
 * order of their creation. The lock prevents them from being paused or revoked before the transaction ends.
 */
export const lockForEvents = (
  eventType: string,
  workspaceIds: readonly number[],
): Statement<Pick<Subscription, 'id' | 'workspaceId' | 'status'>> => ({
  name: 'lock-subscriptions-for-events',
  text: LOCK_FOR_EVENTS,
  values: [workspaceIds, eventType],
});

/**
 * Deletes some of the subscriptions that were revoked until a time, with what is left of them; returns whether there may
 * be more. Nothing changes a revoked subscription, so the time of its last change is that of its revocation.
 */
export async function forgetRevoked(db: Knex, until: Instant): Promise<boolean> {
  const expired = db('subscriptions').select('id').whereRaw(REVOKED).where('updated_at', '<=', until).limit(BATCH);
  return (await db('subscriptions').whereIn('id', expired).delete()) === BATCH;
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

const toRow = (subscription: Subscription) =>
  Object.fromEntries(entriesOf(COLUMNS).map(([property, column]) => [column, subscription[property]]));
