import { notFound } from '@tocsin/http';
import { type Knex, type PreparedStatement, runPipeline } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';
import type { Subscription } from '../domain/subscription.ts';

interface SubscriptionRow {
  id: string;
  workspace_id: number;
  name: string | null;
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
/** Revoked subscriptions that are deleted at once. */
const BATCH = 1_000;
/** As the index of the subscriptions in use has it: a workspace may have many revoked ones. */
const IN_USE = `status <> 'revoked'`;
const REVOKED = `status = 'revoked'`;

const COLUMNS = [
  'id',
  'workspace_id',
  'name',
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
      const latest = (condition: string) =>
        db('subscriptions')
          .select([...COLUMNS, 'seq'])
          .where({ workspace_id: workspaceId })
          .whereRaw(condition)
          .orderBy('seq', 'desc')
          .limit(MAX_LISTED);
      const candidates = db
        .from(latest(IN_USE).as('in_use'))
        .select([...COLUMNS, 'seq'])
        .unionAll([latest(REVOKED)], true);
      const listed = db
        .from(candidates.as('candidates'))
        .select([...COLUMNS, 'seq'])
        .orderByRaw(`${REVOKED}, seq desc`)
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
      const row = await own().whereRaw(IN_USE).count({ total: 'id' }).first();
      return Number(row?.total ?? 0);
    },

    /** When the nth-latest subscription was created, revoked ones included; undefined if there are fewer. */
    async createdAt(nthLatest: number): Promise<Instant | undefined> {
      const row = await own()
        .orderBy('seq', 'desc')
        .offset(nthLatest - 1)
        .first('created_at');
      return row?.created_at;
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
      const row = await db('subscriptions')
        .where({ workspace_id: workspaceId, id })
        .first<{ url_key_id: string | null; url_ciphertext: Buffer | null } | undefined>(
          'url_key_id',
          'url_ciphertext',
        );
      const { url_key_id: keyId = null, url_ciphertext: ciphertext = null } = row ?? {};
      return keyId === null || ciphertext === null ? undefined : { keyId, ciphertext };
    },

    async deleteUrl(id: string): Promise<void> {
      await db('subscriptions')
        .where({ workspace_id: workspaceId, id })
        .update({ url_key_id: null, url_ciphertext: null });
    },
  };
}

/** The lateral join looks at one subscription of each workspace: the planner might scan the whole table. */
const FIND_SUBSCRIBED = `
  select workspace.id from unnest($1::bigint[]) as workspace (id)
  cross join lateral (
    select id from subscriptions
    where workspace_id = workspace.id and ${IN_USE} and $2 = any(event_types) limit 1
  ) as subscribed`;

/** Finds those of the workspaces that have a subscription to an event type which is not revoked. */
export const findSubscribed = (
  eventType: string,
  workspaceIds: readonly number[],
): PreparedStatement<{ id: number }> => ({
  name: 'find-subscribed',
  text: FIND_SUBSCRIBED,
  values: [workspaceIds, eventType],
});

const LOCK_FOR_EVENTS = `
  select id, workspace_id, status from subscriptions
  where workspace_id = any($1::bigint[]) and ${IN_USE} and $2 = any(event_types)
  order by workspace_id, seq for share`;

/**
 * Locks the subscriptions of workspaces to an event type that are not revoked, and reads them by workspace and in the
 * order of their creation. The lock prevents them from being paused or revoked before the transaction ends.
 */
export const lockForEvents = (
  eventType: string,
  workspaceIds: readonly number[],
): PreparedStatement<Pick<SubscriptionRow, 'id' | 'workspace_id' | 'status'>> => ({
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
  await runPipeline(trx, [lockStatement(workspaceIds)]);
}

/** What `lockWorkspaces` runs. */
export const lockStatement = (workspaceIds: readonly number[]): PreparedStatement => ({
  name: 'lock-workspaces',
  text: LOCK_WORKSPACES,
  values: [workspaceIds.toSorted((a, b) => a - b)],
});

const toSubscription = (row: SubscriptionRow): Subscription => ({
  id: row.id,
  workspaceId: row.workspace_id,
  name: row.name,
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
  name: subscription.name,
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
