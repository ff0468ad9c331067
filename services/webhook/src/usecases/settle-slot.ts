import type { Instant } from '@tocsin/runtime';
import { type Full, windowOf } from '../domain/limits.ts';
import type { HeldSlot, limitStore } from '../store/limit-store.ts';

/**
 * Makes a slot one for the address that its request is about to go to, in the window that it begins in. Its caller holds the
 * lock of the limits.
 * @returns what is full, if anything is; the slot is given back then
 */
export async function settleSlot(
  limits: ReturnType<typeof limitStore>,
  { slot, ip, now }: { slot: HeldSlot; ip: string; now: Instant },
): Promise<Full | undefined> {
  await limits.rememberAddress(slot.host, ip, now);
  // Mostly it was claimed for this address already, and the name was looked up within the same minute.
  if (slot.ip === ip && slot.minute === windowOf(now)) return undefined;
  await limits.giveBack(slot);
  const full = (await limits.budget(slot.kind, now)).full({ ...slot, ip });
  if (full === undefined) await limits.open([{ ...slot, ip }], now);
  return full;
}
