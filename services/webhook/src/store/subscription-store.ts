import { notFound } from '@tocsin/http';
import type { Instant, Knex, Sealed } from '@tocsin/runtime';
import type { Subscription } from '../domain/subscription.ts';

interface SubscriptionRow {
  id: string;
  workspace_id: number;
  origin: string;
  host: string;
  event_types: Subscription['eventTypes'];
  status: Subscription['status'];
  verified: boolean;
  consecutive_failures: number;
  created_at: Instant;
  updated_at: Instant;
  last_success_at: Instant | null;
  last_failure_at: Instant | null;
}

/** contract: Limits */
const MAX_LISTED = 1_000;

const COLUMNS = [
  'id',
  'workspace_id',
  'origin',
  'host',
  'event_types',
  'status',
  'verified',
  'consecutive_failures',
  'created_at',
  'updated_at',
  'last_success_at',
  'last_failure_at',
] as const satisfies (keyof SubscriptionRow)[];

/** Subscriptions of one workspace, over a pool or a transaction. */
export function subscriptionStore(db: Knex, workspaceId: number) {
  const own = () => db<SubscriptionRow>('subscriptions').where({ workspace_id: workspaceId });
  const required = (row: SubscriptionRow | undefined): Subscription => {
    if (row === undefined) throw notFound('The webhook');
    return toSubscription(row);
  };
  return {
    /** All subscriptions that are not revoked and the latest revoked ones, `MAX_LISTED` in all, oldest first. */
    async list(): Promise<Subscription[]> {
      const listed = db('subscriptions')
        .select([...COLUMNS, 'seq'])
        .where({ workspace_id: workspaceId })
        .orderByRaw(`status = 'revoked', seq desc`)
        .limit(MAX_LISTED)
        .as('listed');
      const rows = await db
        .from(listed)
        .select<SubscriptionRow[]>(...COLUMNS)
        .orderBy('seq');
      return rows.map(toSubscription);
    },

    /** @throws DomainError `not_found` */
    get: async (id: string): Promise<Subscription> =>
      required(
        await own()
          .where({ id })
          .first(...COLUMNS),
      ),

    /** Locks the subscription until the transaction ends. @throws DomainError `not_found` */
    getForUpdate: async (id: string): Promise<Subscription> =>
      required(
        await own()
          .where({ id })
          .forUpdate()
          .first(...COLUMNS),
      ),

    async countUnrevoked(): Promise<number> {
      const row = await own().whereNot({ status: 'revoked' }).count({ total: 'id' }).first();
      return Number(row?.total ?? 0);
    },

    async insert(subscription: Subscription, url: Sealed): Promise<void> {
      await db('subscriptions').insert({ ...toRow(subscription), url_key_id: url.keyId, url_box: url.ciphertext });
    },

    /** Updates a subscription that this transaction has locked. */
    async update(subscription: Subscription): Promise<void> {
      await own().where({ id: subscription.id }).update(toRow(subscription));
    },

    /** The encrypted URL; undefined when the subscription is revoked. */
    async findUrl(id: string): Promise<Sealed | undefined> {
      const row = await db('subscriptions')
        .where({ workspace_id: workspaceId, id })
        .first<{ url_key_id: string | null; url_box: Buffer | null } | undefined>('url_key_id', 'url_box');
      if (row === undefined || row.url_key_id === null || row.url_box === null) return undefined;
      return { keyId: row.url_key_id, ciphertext: row.url_box };
    },

    async deleteUrl(id: string): Promise<void> {
      await db('subscriptions').where({ workspace_id: workspaceId, id }).update({ url_key_id: null, url_box: null });
    },

    /**
     * Subscriptions to an event type that are not revoked, in the order of their creation. The lock prevents them from
     * being paused or revoked before the transaction ends.
     */
    async lockForEvent(eventType: string): Promise<Pick<Subscription, 'id' | 'status'>[]> {
      return own()
        .select('id', 'status')
        .whereNot({ status: 'revoked' })
        .whereRaw('? = any(event_types)', [eventType])
        .orderBy('seq')
        .forShare();
    },
  };
}

/** Serializes transactions that count and add what a workspace has a limited number of, until the transaction ends. */
export async function lockWorkspace(trx: Knex.Transaction, workspaceId: number): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`tocsin-webhook-workspace-${workspaceId}`]);
}

const toSubscription = (row: SubscriptionRow): Subscription => ({
  id: row.id,
  workspaceId: row.workspace_id,
  origin: row.origin,
  host: row.host,
  eventTypes: row.event_types,
  status: row.status,
  verified: row.verified,
  consecutiveFailures: row.consecutive_failures,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  lastSuccessAt: row.last_success_at,
  lastFailureAt: row.last_failure_at,
});

const toRow = (subscription: Subscription): SubscriptionRow => ({
  id: subscription.id,
  workspace_id: subscription.workspaceId,
  origin: subscription.origin,
  host: subscription.host,
  event_types: subscription.eventTypes,
  status: subscription.status,
  verified: subscription.verified,
  consecutive_failures: subscription.consecutiveFailures,
  created_at: subscription.createdAt,
  updated_at: subscription.updatedAt,
  last_success_at: subscription.lastSuccessAt,
  last_failure_at: subscription.lastFailureAt,
});
