import { setTimeout as delay } from 'node:timers/promises';
import type { FailureReason, SafeResponse } from './messages.ts';

/** A proxy resolves names, too, and may refuse private addresses. */
const ADDRESS_FAILURES: ReadonlySet<FailureReason> = new Set(['dns', 'blocked_address', 'proxy']);

/**
 * Whether no address was found that may be reached. Clients must not tell a name that does not exist from one with a
 * private address: the difference would reveal which names the internal network knows.
 */
export const isAddressFailure = (response: SafeResponse): boolean =>
  response.kind === 'failure' && ADDRESS_FAILURES.has(response.reason);

/** Milliseconds. */
const STEP = 1_000;

/** Waits until the next full step since the start of a failed lookup, so that its duration reveals nothing. */
export async function hideDuration(start: number, timeout: number): Promise<void> {
  const elapsed = performance.now() - start;
  await delay(Math.max(0, Math.min(Math.ceil(elapsed / STEP) * STEP, timeout) - elapsed));
}
