import { type Instant, type Knex, later, named } from '@tocsin/runtime';
import {
  budget,
  type Budget,
  type Destination,
  LEASE,
  type RequestKind,
  windowKeys,
  windowOf,
  type WindowUse,
} from '../domain/limits.ts';

/** A request's place among those under way. */
export interface Slot extends Destination {
  /** Who holds it: the same token as the lease of the delivery that it is for. */
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
  /** The window that the request is counted in. */
  minute: Instant;
}

const COLUMNS = ['token', 'kind', 'workspace_id', 'host', 'ip', 'minute'] as const;

/**
 * The windows and slots of the limits on outgoing requests (contract: Limits). They are exact over all replicas because
 * every change but `close` is made under `lock`, which one transaction at a time has; two requests a second at most pass it.
 */
export function limitStore(trx: Knex) {
  const slotsNow = async (now: Instant) => {
    const rows = await trx<SlotRow>('slots')
      .select(...COLUMNS)
      .where('lease_until', '>', now);
    return rows.map(toSlot);
  };
  return {
    /** Held until the transaction ends. Answers which workspace was served last. */
    async lock(): Promise<number> {
      const [row] = await named<{ last_workspace_id: number }>(
        trx,
        'lock-limits',
        'select last_workspace_id from dispatcher where id = 1 for update',
        [],
      );
      if (row === undefined) throw new Error('the row of the table dispatcher is gone');
      return row.last_workspace_id;
    },

    async setLastWorkspace(workspaceId: number): Promise<void> {
      await trx('dispatcher').where({ id: 1 }).update({ last_workspace_id: workspaceId });
    },

    /** What is left at `now`. */
    async budget(kind: RequestKind, now: Instant): Promise<Budget> {
      const windows = await trx('windows')
        .where({ minute: windowOf(now) })
        .select<WindowUse[]>('scope', 'key', 'used');
      return budget(kind, { windows, slots: await slotsNow(now) });
    },

    /** Takes slots, and counts their requests in the windows of `now`. */
    async open(slots: readonly Slot[], now: Instant): Promise<void> {
      if (slots.length === 0) return;
      const minute = windowOf(now);
      await trx('slots').insert(
        slots.map(({ token, kind, workspaceId, host, ip }) => ({
          token,
          kind,
          workspace_id: workspaceId,
          host,
          ip,
          minute,
          lease_until: later(now, LEASE),
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

    /** Undefined when the slot was given back, or its lease has run out. */
    async findSlot(token: string, now: Instant): Promise<HeldSlot | undefined> {
      const row = await trx<SlotRow>('slots')
        .where({ token })
        .andWhere('lease_until', '>', now)
        .first(...COLUMNS);
      return row && toSlot(row);
    },

    /** Frees a slot whose request was never made: it counts in no window. */
    async giveBack(slot: HeldSlot): Promise<void> {
      await trx('slots').where({ token: slot.token }).delete();
      await trx('windows')
        .where({ minute: slot.minute })
        .whereIn(
          ['scope', 'key'],
          windowKeys(slot.kind, slot).map(({ scope, key }) => [scope, key]),
        )
        .decrement('used');
    },

    /** Frees the slot of a request that is over. Needs no lock: it only makes room. */
    async close(token: string): Promise<void> {
      await trx('slots').where({ token }).delete();
    },

    /** Where a host was when it was last looked up. */
    async findAddress(host: string): Promise<string | null> {
      const row = await trx('host_addresses').where({ host }).first<{ ip: string } | undefined>('ip');
      return row?.ip ?? null;
    },

    async rememberAddress(host: string, ip: string, now: Instant): Promise<void> {
      await trx('host_addresses').insert({ host, ip, seen_at: now }).onConflict('host').merge();
    },

    /** Forgets what no decision can depend on any more. */
    async forget(now: Instant): Promise<void> {
      await trx('windows').where('minute', '<', windowOf(now)).delete();
      await trx('slots').where('lease_until', '<=', now).delete();
      await trx('host_addresses').where('seen_at', '<', later(now, -ADDRESS_KEPT)).delete();
    },
  };
}

/** An address that old says little about where a host is now. */
const ADDRESS_KEPT = 24 * 3_600_000;

const toSlot = (row: SlotRow): HeldSlot => ({
  token: row.token,
  kind: row.kind,
  workspaceId: row.workspace_id,
  host: row.host,
  ip: row.ip,
  minute: row.minute,
});
