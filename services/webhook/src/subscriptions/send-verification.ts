import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '@tocsin/http';
import { afterCommit, inOwnDryRun, type Instant } from '@tocsin/runtime';
import type { AnsweredOutcome } from '../requests/clients/sender.ts';
import { verificationBody } from '../requests/domain/envelope.ts';
import { type LimitReached, windowEnd } from '../requests/domain/limits.ts';
import { revokedError, type Subscription } from './domain/subscription.ts';
import { limitStore } from '../requests/store/limit-store.ts';
import { subscriptionStore } from './store/subscription-store.ts';
import { assignAddress } from '../requests/assign-address.ts';
import { sign } from './sign.ts';
import type { SendingDependencies } from './subscription-command.ts';

interface Check {
  subscription: Subscription;
  requestId: string | null;
}

/** A check that was sent; `duration` in milliseconds. */
export interface EndedCheck {
  outcome: AnsweredOutcome;
  duration: number;
}

/**
 * Slots usually become free quickly, so a check tries this often, with this pause in milliseconds, before it is
 * refused.
 */
const SLOT_RETRIES = { tries: 20, pause: 100 };

/**
 * Sends one signed request to a subscription's receiver, within the windows for checks and the slots for all requests.
 * @throws DomainError `rate_limited` when a limit is reached, `invalid_resource_state` when the subscription is revoked
 */
export async function sendVerification(dependencies: SendingDependencies, check: Check): Promise<EndedCheck> {
  for (let tries = 1; ; tries += 1) {
    // A dry run must not hold locks of the limits while it waits, or asks the incident service.
    const ended = await inOwnDryRun(async () => tryCheck(dependencies, check));
    if ('outcome' in ended) return ended;
    if (ended.limit.resource === 'window' || tries === SLOT_RETRIES.tries) throw rateLimited(ended.limit, ended.now);
    await delay(SLOT_RETRIES.pause);
  }
}

type Refusal = { kind: 'refused'; limit: LimitReached; now: Instant };

async function tryCheck(
  dependencies: SendingDependencies,
  { subscription, requestId }: Check,
): Promise<EndedCheck | Refusal> {
  const { database, time, secretCipher, sender, metrics, log } = dependencies;
  const { id, workspaceId, origin } = subscription;
  const url = await subscriptionStore(database, workspaceId).findUrl(id);
  if (url === undefined) throw revokedError();
  const reservation = await reserveSlot(dependencies, subscription);
  if (reservation.kind === 'refused') return reservation;

  const { token } = reservation;
  const started = performance.now();
  let refusal: Refusal | undefined;
  try {
    const outcome = await sender.post(secretCipher.decryptDestination(url, id), async (ip) =>
      database.transaction(async (trx) => {
        const limits = limitStore(trx);
        await limits.lockSlot(token, ip);
        const now = await time(trx);
        const slot = await limits.findSlot(token, now);
        if (slot === undefined) throw new Error('the slot of a check was lost');
        const limit = await assignAddress(limits, { slot, ip, now, requestLimits: dependencies.requestLimits });
        if (limit !== undefined) {
          refusal = { kind: 'refused', limit, now };
          return undefined;
        }
        const eventId = randomUUID();
        return sign(
          dependencies,
          trx,
          { workspaceId, subscriptionId: id, eventId, body: verificationBody(eventId, now, id) },
          now,
        );
      }),
    );
    if (refusal !== undefined) return refusal;
    if (outcome.kind === 'cancelled') throw revokedError();
    const result = outcome.kind === 'success' ? 'succeeded' : outcome.reason;
    const duration = Math.round(performance.now() - started);
    afterCommit(() => {
      metrics.checks.inc({ result });
      log.info(
        {
          subscription: id,
          workspace: workspaceId,
          receiver: origin,
          result,
          status: outcome.status,
          duration,
          request_id: requestId,
        },
        'checked a receiver',
      );
    });
    return { outcome, duration };
  } finally {
    await limitStore(database).closeSlot(token);
  }
}

async function reserveSlot(
  { database, time, requestLimits }: SendingDependencies,
  { workspaceId, host }: Subscription,
): Promise<{ kind: 'reserved'; token: string } | Refusal> {
  return database.transaction(async (trx) => {
    const limits = limitStore(trx);
    // Uses the last known address, so that a check over its limit is refused without a DNS lookup.
    const destination = { workspaceId, host, ip: await limits.findAddress(host) };
    await limits.lockDestination(destination);
    const now = await time(trx);
    const reservation = await limits.reserve('check', { destination, now, limits: requestLimits });
    if (reservation.kind === 'refused') return { ...reservation, now };
    const token = randomUUID();
    await limits.openSlots([{ ...destination, ...reservation.shares, token, kind: 'check' }], now);
    return { kind: 'reserved', token };
  });
}

function rateLimited({ resource }: LimitReached, now: Instant): DomainError {
  const seconds = resource === 'window' ? Math.ceil((Date.parse(windowEnd(now)) - Date.parse(now)) / 1_000) : 1;
  return new DomainError('rate_limited', 'Too many webhook verifications; try again later', {
    headers: { 'Retry-After': String(seconds) },
    details: { retry_after_seconds: seconds },
  });
}
