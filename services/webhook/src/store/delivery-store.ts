import { type Instant, type Knex, later } from '@tocsin/runtime';
import { DEADLINE, MAX_ATTEMPTS, RETENTION, type Verdict } from '../domain/delivery.ts';

/** An event as it is sent: `body` is the exact text. */
export interface StoredEvent {
  id: string;
  workspaceId: number;
  body: string;
  requestId: string | null;
  occurredAt: Instant;
}

/** What a finished attempt leaves on its delivery. */
export interface AttemptRecord {
  verdict: Verdict;
  /** Absent after a success. */
  error?: string | undefined;
  status?: number | undefined;
}

const WAITING = ['queued', 'held'] as const;

/** Events and their deliveries, over a pool or a transaction. */
export function deliveryStore(db: Knex) {
  const waiting = (subscriptionId: string, workspaceId: number, statuses: readonly string[] = WAITING) =>
    db('deliveries').where({ workspace_id: workspaceId, subscription_id: subscriptionId }).whereIn('status', statuses);
  const leased = (token: string) => db('deliveries').where({ lease_token: token }).whereIn('status', WAITING);
  return {
    /** How many deliveries of a workspace wait, held ones and those under way included. */
    async queueLength(workspaceId: number): Promise<number> {
      const row = await db('deliveries')
        .where({ workspace_id: workspaceId })
        .whereIn('status', WAITING)
        .count({ length: 'id' })
        .first();
      return Number(row?.length ?? 0);
    },

    async addEvent(event: StoredEvent, now: Instant): Promise<void> {
      await db('events').insert({
        id: event.id,
        workspace_id: event.workspaceId,
        body: event.body,
        request_id: event.requestId,
        occurred_at: event.occurredAt,
        queued_at: now,
      });
    },

    async addDeliveries(
      event: StoredEvent,
      subscriptions: readonly { id: string; held: boolean }[],
      now: Instant,
    ): Promise<void> {
      await db('deliveries').insert(
        subscriptions.map(({ id, held }) => ({
          event_id: event.id,
          subscription_id: id,
          workspace_id: event.workspaceId,
          status: held ? 'held' : 'queued',
          due_at: now,
          deadline_at: later(now, DEADLINE),
        })),
      );
    },

    /** Those of a paused subscription stay where they are, and their deadlines run on. */
    async hold(subscriptionId: string, workspaceId: number): Promise<void> {
      await waiting(subscriptionId, workspaceId, ['queued']).update({ status: 'held' });
    },

    async letGo(subscriptionId: string, workspaceId: number): Promise<void> {
      await waiting(subscriptionId, workspaceId, ['held']).update({ status: 'queued' });
    },

    /** Takes the leases away too: an attempt under way finishes for nobody. */
    async cancel(subscriptionId: string, workspaceId: number, now: Instant): Promise<void> {
      await waiting(subscriptionId, workspaceId).update({ status: 'cancelled', lease_token: null, finished_at: now });
    },

    /** The status of the delivery that the token leases; undefined when it leases none any more. */
    async findLeased(token: string): Promise<'queued' | 'held' | undefined> {
      const row = await leased(token).first<{ status: 'queued' | 'held' } | undefined>('status');
      return row?.status;
    },

    /** Ends a lease with nothing sent. Answers false when the lease was lost. */
    async release(token: string, options: { dueAt: Instant; countsAsAttempt: boolean }): Promise<boolean> {
      const released = await leased(token).update({
        lease_token: null,
        due_at: options.dueAt,
        ...(!options.countsAsAttempt && { attempts: db.raw('attempts - 1') }),
      });
      return released === 1;
    },

    /** Ends a lease with what became of the attempt. Answers false when the lease was lost. */
    async finish(token: string, { verdict, error, status }: AttemptRecord, now: Instant): Promise<boolean> {
      const finished = await leased(token).update({
        lease_token: null,
        last_error: error ?? null,
        last_status: status ?? null,
        ...(error !== undefined && { failed_attempts: db.raw('failed_attempts + 1') }),
        ...(verdict.kind === 'retry' ? { due_at: verdict.at } : { status: verdict.kind, finished_at: now }),
      });
      return finished === 1;
    },

    /** When the next delivery is due; in the past when one is due already. */
    async nextDue(): Promise<Instant | undefined> {
      const row = await db('deliveries').where({ status: 'queued' }).min({ due: 'due_at' }).first();
      return (row?.due as Instant | null | undefined) ?? undefined;
    },

    /** Gives up deliveries past their deadline, and those whose last attempt was lost in a crash. */
    async giveUp(now: Instant): Promise<{ deadline: number; exhausted: number }> {
      const fail = async (condition: (query: Knex.QueryBuilder) => Knex.QueryBuilder) => {
        const idle = db('deliveries')
          .select('id')
          .whereIn('status', WAITING)
          .where((free) => void free.whereNull('lease_token').orWhere('due_at', '<=', now));
        // What is just being changed is for the next time; waiting for it could end in a deadlock.
        return db('deliveries')
          .whereIn('id', condition(idle).forUpdate().skipLocked())
          .update({ status: 'failed', lease_token: null, finished_at: now });
      };
      return {
        deadline: await fail((idle) => idle.where('deadline_at', '<=', now)),
        exhausted: await fail((idle) => idle.where('attempts', '>=', MAX_ATTEMPTS).where('due_at', '<=', now)),
      };
    },

    /** Forgets events, and deliveries with them, past their retention; answers whether there may be more. */
    async forget(now: Instant): Promise<boolean> {
      const old = db('events').select('id').where('queued_at', '<=', later(now, -RETENTION)).limit(1_000);
      return (await db('events').whereIn('id', old).delete()) === 1_000;
    },

    /** How many wait, by status. */
    async lengths(): Promise<{ queued: number; held: number }> {
      const rows = await db('deliveries')
        .whereIn('status', WAITING)
        .groupBy('status')
        .select<{ status: string; length: number }[]>('status', db.raw('count(id) as length'));
      const lengthOf = (status: string) => rows.find((row) => row.status === status)?.length ?? 0;
      return { queued: lengthOf('queued'), held: lengthOf('held') };
    },

    /** Since when the delivery is due that is due longest, of those that nobody is trying. */
    async oldestDue(now: Instant): Promise<Instant | undefined> {
      const row = await db('deliveries')
        .where({ status: 'queued' })
        .whereNull('lease_token')
        .where('due_at', '<=', now)
        .min({ due: 'due_at' })
        .first();
      return (row?.due as Instant | null | undefined) ?? undefined;
    },
  };
}
