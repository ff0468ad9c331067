import { type Instant, type Knex, addMilliseconds, runPrepared } from '@tocsin/runtime';
import {
  budget,
  type Budget,
  type Destination,
  LEASE_DURATION,
  type RequestKind,
  type RequestLimits,
  windowKeys,
  windowStart,
  type WindowUse,
} from '../domain/limits.ts';

/** The slot of one request in progress. */
export interface Slot extends Destination {
  /** Identifies the holder; equals the lease token of the delivery that the slot is for. */
  token: string;
  kind: RequestKind;
}

interface SlotRow {
  token: string;
  kind: RequestKind;
  workspace_id: number;
  host: string;
  ip: string | null;
  minute: Instant;
}

export interface HeldSlot extends Slot {
  /** Start of the window that the request counts in. */
  minute: Instant;
}

const COLUMNS = ['token', 'kind', 'workspace_id', 'host', 'ip', 'minute'] as const;

/**
 * The windows and slots of the limits on outgoing requests (contract: Limits). They are exact across replicas because
 * every change except `closeSlot` is made under `lock`. One lock is enough for the requests that the settings allow.
 */
export function limitStore(trx: Knex) {
  const usedSlots = async (now: Instant) => {
    const rows = await trx<SlotRow>('slots')
      .select(...COLUMNS)
      .where('lease_until', '>', now);
    return rows.map(toSlot);
  };
  return {
    /** Locks the limits until the transaction ends. Returns the ID of the workspace that was served last. */
    async lock(): Promise<number> {
      const [row] = await runPrepared<{ last_workspace_id: number }>(
        trx,
        'lock-limits',
        'select last_workspace_id from dispatcher where id = 1 for update',
        [],
      );
      if (row === undefined) throw new Error('the table dispatcher has no row');
      return row.last_workspace_id;
    },

    async setLastWorkspace(workspaceId: number): Promise<void> {
      await trx('dispatcher').where({ id: 1 }).update({ last_workspace_id: workspaceId });
    },

    /** What the limits allow at `now`. */
    async budget(kind: RequestKind, { now, limits }: { now: Instant; limits: RequestLimits }): Promise<Budget> {
      const windows = await trx('windows')
        .where({ minute: windowStart(now) })
        .select<WindowUse[]>('scope', 'key', 'used');
      return budget(kind, { windows, slots: await usedSlots(now) }, limits);
    },

    /** Takes slots, and counts their requests in the windows of `now`. */
    async openSlots(slots: readonly Slot[], now: Instant): Promise<void> {
      if (slots.length === 0) return;
      const minute = windowStart(now);
      await trx('slots').insert(
        slots.map(({ token, kind, workspaceId, host, ip }) => ({
          token,
          kind,
          workspace_id: workspaceId,
          host,
          ip,
          minute,
          lease_until: addMilliseconds(now, LEASE_DURATION),
        })),
      );
      const uses = Map.groupBy(
        slots.flatMap((slot) => windowKeys(slot.kind, slot)),
        ({ scope, key }) => `${scope} ${key}`,
      );
      await trx('windows')
        .insert([...uses.values()].map((same) => ({ ...same[0], minute, used: same.length })))
        .onConflict(['minute', 'scope', 'key'])
        .merge({ used: trx.raw('windows.used + excluded.used') });
    },

    /** Undefined when the slot was released or its lease has expired. */
    async findSlot(token: string, now: Instant): Promise<HeldSlot | undefined> {
      const row = await trx<SlotRow>('slots')
        .where({ token })
        .andWhere('lease_until', '>', now)
        .first(...COLUMNS);
      return row && toSlot(row);
    },

    /** Frees the slot of a request that was not sent, and removes it from its windows. */
    async releaseSlot(slot: HeldSlot): Promise<void> {
      await trx('slots').where({ token: slot.token }).delete();
      await trx('windows')
        .where({ minute: slot.minute })
        .whereIn(
          ['scope', 'key'],
          windowKeys(slot.kind, slot).map(({ scope, key }) => [scope, key]),
        )
        .decrement('used');
    },

    /** Frees the slot of a finished request. Does not need the lock, because it only frees capacity. */
    async closeSlot(token: string): Promise<void> {
      await trx('slots').where({ token }).delete();
    },

    /** The address that a host had when it was last resolved. */
    async findAddress(host: string): Promise<string | null> {
      const row = await trx('host_addresses').where({ host }).first<{ ip: string } | undefined>('ip');
      return row?.ip ?? null;
    },

    async rememberAddress(host: string, ip: string, now: Instant): Promise<void> {
      await trx('host_addresses').insert({ host, ip, seen_at: now }).onConflict('host').merge();
    },

    /** Deletes past windows, expired slots and old addresses. */
    async forget(now: Instant): Promise<void> {
      await trx('windows').where('minute', '<', windowStart(now)).delete();
      await trx('slots').where('lease_until', '<=', now).delete();
      await trx('host_addresses').where('seen_at', '<', addMilliseconds(now, -ADDRESS_RETENTION)).delete();
    },
  };
}

/** Older addresses are unlikely to be still right. */
const ADDRESS_RETENTION = 24 * 3_600_000;

const toSlot = (row: SlotRow): HeldSlot => ({
  token: row.token,
  kind: row.kind,
  workspaceId: row.workspace_id,
  host: row.host,
  ip: row.ip,
  minute: row.minute,
});
