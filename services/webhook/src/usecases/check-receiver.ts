import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import type { Outcome } from '../domain/delivery.ts';
import { verificationBody } from '../domain/envelope.ts';
import { type Full, windowEnd } from '../domain/limits.ts';
import { revoked, type Subscription } from '../domain/subscription.ts';
import { limitStore } from '../store/limit-store.ts';
import { subscriptionStore } from '../store/subscription-store.ts';
import type { Tools } from './context.ts';
import { settleSlot } from './settle-slot.ts';
import { sign } from './sign.ts';

interface Check {
  subscription: Subscription;
  requestId: string;
}

/** Slots become free within moments, mostly; a check waits for one this long before it is refused. */
const PATIENCE = { tries: 20, pause: 100 };

/**
 * Sends one signed request to a subscription's receiver, within the windows for checks and the slots for all requests.
 * @throws DomainError `rate_limited` when it may not be sent now
 */
export async function checkReceiver(tools: Tools, check: Check): Promise<Outcome> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await tryCheck(tools, check);
    if (outcome.kind !== 'refused') return outcome;
    if (outcome.full.what === 'window' || tries === PATIENCE.tries) throw rateLimited(outcome.full, outcome.now);
    await delay(PATIENCE.pause);
  }
}

type Refusal = { kind: 'refused'; full: Full; now: Instant };

async function tryCheck(tools: Tools, { subscription, requestId }: Check): Promise<Outcome | Refusal> {
  const { database, time, vault, sender, figures, log } = tools;
  const { id, workspaceId, origin } = subscription;
  const url = await subscriptionStore(database, workspaceId).findUrl(id);
  if (url === undefined) throw revoked();
  const begun = await beginCheck(tools, subscription);
  if (begun.kind === 'refused') return begun;

  const { token } = begun;
  const started = performance.now();
  let refusal: Refusal | undefined;
  try {
    const outcome = await sender.post(vault.openUrl(url, id), async (ip) =>
      database.transaction(async (trx) => {
        const limits = limitStore(trx);
        await limits.lock();
        const now = await time(trx);
        const slot = await limits.findSlot(token, now);
        if (slot === undefined) throw new Error('the slot of a check was lost');
        const full = await settleSlot(limits, { slot, ip, now });
        if (full !== undefined) refusal = { kind: 'refused', full, now };
        if (full !== undefined) return undefined;
        const eventId = randomUUID();
        return sign(tools, trx, { subscriptionId: id, eventId, body: verificationBody(eventId, now, id) }, now);
      }),
    );
    if (refusal !== undefined) return refusal;
    if (outcome.kind === 'called_off') throw revoked();
    const result = outcome.kind === 'success' ? 'succeeded' : outcome.reason;
    figures.checks.inc({ result });
    log.info(
      {
        subscription: id,
        workspace: workspaceId,
        receiver: origin,
        result,
        status: outcome.status,
        duration: Math.round(performance.now() - started),
        request_id: requestId,
      },
      'a receiver was checked',
    );
    return outcome;
  } finally {
    await limitStore(database).close(token);
  }
}

async function beginCheck(
  { database, time }: Tools,
  { workspaceId, host }: Subscription,
): Promise<{ kind: 'begun'; token: string } | Refusal> {
  return database.transaction(async (trx) => {
    const limits = limitStore(trx);
    await limits.lock();
    const now = await time(trx);
    // The address of last time, so that a check that will be refused costs no look-up.
    const destination = { workspaceId, host, ip: await limits.findAddress(host) };
    const full = (await limits.budget('check', now)).full(destination);
    if (full !== undefined) return { kind: 'refused', full, now };
    const token = randomUUID();
    await limits.open([{ ...destination, token, kind: 'check' }], now);
    return { kind: 'begun', token };
  });
}

function rateLimited({ what }: Full, now: Instant): DomainError {
  const seconds = what === 'window' ? Math.ceil((Date.parse(windowEnd(now)) - Date.parse(now)) / 1_000) : 1;
  return new DomainError('rate_limited', 'There are too many checks of receivers; try again later', {
    headers: { 'Retry-After': String(seconds) },
    details: { retry_after_seconds: seconds },
  });
}
