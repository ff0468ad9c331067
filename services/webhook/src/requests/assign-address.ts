import type { Instant } from '@tocsin/runtime';
import { type LimitReached, type RequestLimits, windowStart } from './domain/limits.ts';
import type { HeldSlot, limitStore } from './store/limit-store.ts';

/**
 * Assigns a slot to the address and the window that its request is about to use. The transaction has locked the slot's
 * keys and those of the address (`lockSlot`).
 * @returns the limit that is reached, if any; the slot is released then
 */
export async function assignAddress(
  limits: ReturnType<typeof limitStore>,
  { slot, ip, now, requestLimits }: { slot: HeldSlot; ip: string; now: Instant; requestLimits: RequestLimits },
): Promise<LimitReached | undefined> {
  await limits.rememberAddress(slot.host, ip, now);
  // The usual case: the slot was taken for this address, and in this minute.
  if (slot.ip === ip && slot.minute === windowStart(now)) return undefined;
  await limits.releaseSlot(slot);
  const reservation = await limits.reserve(slot.kind, {
    ...{ destination: { ...slot, ip }, now, limits: requestLimits },
    preferred: slot,
  });
  if (reservation.kind === 'refused') return reservation.limit;
  await limits.openSlots([{ ...slot, ...reservation.shares, ip }], now);
  return undefined;
}
