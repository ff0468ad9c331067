import { DomainError } from '@tocsin/http';
import {
  addMilliseconds,
  Counter,
  type Dispatcher,
  Gauge,
  type Instant,
  type Keyring,
  type Logger,
  type Metrics,
  startDispatcher,
} from '@tocsin/runtime';
import type { CallFailure } from '@tocsin/safe-http';
import { openAddress } from './address.ts';
import { KINDS_BY_NAME } from './clients/kinds/index.ts';
import type { TrackerClient } from './clients/tracker-api.ts';
import { TrackerFailure } from './clients/tracker-failure.ts';
import { nextLook } from './domain/agreement.ts';
import { afterFailure } from './domain/tracker.ts';
import { type Agreed, reconcile, type ReconcileDependencies } from './reconcile.ts';
import {
  claimTickets,
  type ClaimedTicket,
  countFailing,
  nextDue,
  ticketLease,
  trackerHealth,
} from './store/sync-store.ts';

export interface SyncDependencies extends ReconcileDependencies {
  trackerKeys: Keyring;
  trackerClient: TrackerClient;
  log: Logger;
  metrics: Metrics;
}

/** Tickets that a process compares at once, and those of them whose tracker has failed before. */
const MOST = 64;
const MOST_RETRIES = 16;
/** Milliseconds between two polls for tickets of processes that have ended. */
const INTERVAL = 60_000;
/** Milliseconds for all requests of a ticket: shorter than its lease. */
const DEADLINE = 40_000;
/** Milliseconds until what failed for one ticket is tried again by itself, if the ticket exists. */
const TICKET_PAUSE = 6 * 3_600_000;
/** Milliseconds until a ticket is asked for again that may have been made: searches are behind. */
const UNCERTAIN_PAUSE = 60_000;
/** Milliseconds until it tries again after a fault of our own. */
const INTERNAL_PAUSE = 30_000;

/** Starts the dispatcher that makes tickets and compares them with their follow-ups (contract: Trackers). */
export function startTrackers(dependencies: SyncDependencies, interval = INTERVAL): Dispatcher {
  const { database, clock, log, metrics } = dependencies;
  const looks = countLooks(dependencies, metrics);
  let retries = 0;
  return startDispatcher<ClaimedTicket>({
    name: 'comparing tickets',
    interval,
    log,
    nextDue: async () => {
      const due = await nextDue(database);
      return due === undefined ? undefined : Date.parse(due) - Date.parse(clock.now());
    },
    claim: async (inProgress) => {
      const limit = MOST - inProgress;
      if (limit <= 0) return [];
      return claimTickets(database, { now: clock.now(), limit, retries: Math.max(0, MOST_RETRIES - retries) });
    },
    run: async (ticket) => {
      const isRetry = ticket.tracker.failures > 0;
      if (isRetry) retries += 1;
      try {
        looks.inc({ result: await look(dependencies, ticket) });
      } finally {
        if (isRetry) retries -= 1;
      }
    },
  });
}

function countLooks({ database }: Pick<SyncDependencies, 'database'>, metrics: Metrics) {
  const registers = [metrics];
  new Gauge({
    name: 'tocsin_trackers_failing',
    help: 'Trackers that do not answer as they should',
    registers,
    async collect() {
      this.set(await countFailing(database));
    },
  });
  const looks = new Counter({
    name: 'tocsin_ticket_looks_total',
    help: 'Comparisons of tickets with their follow-ups by result',
    labelNames: ['result'],
    registers,
  });
  for (const result of RESULTS) looks.inc({ result }, 0);
  return looks;
}

const RESULTS = ['agreed', 'lost', 'failed'] as const;

/** Compares a ticket with its follow-up, and stores what came of it. */
async function look(dependencies: SyncDependencies, ticket: ClaimedTicket): Promise<(typeof RESULTS)[number]> {
  const { database, clock } = dependencies;
  try {
    const agreed = await asked(dependencies, ticket);
    const now = clock.now();
    await trackerHealth(database, ticket.tracker).succeeded(now);
    if (agreed === undefined) return 'lost';
    await ticketLease(database, ticket).end(nextLook(agreed, now));
    return 'agreed';
  } catch (error) {
    await recordFailure(dependencies, { ticket, error, now: clock.now() });
    return 'failed';
  }
}

async function asked(dependencies: SyncDependencies, ticket: ClaimedTicket): Promise<Agreed> {
  const { trackerKeys, trackerClient } = dependencies;
  const { tracker, sealed } = ticket;
  const address = openAddress(trackerKeys, tracker.id, sealed);
  if (address === undefined) throw new TrackerFailure('undecryptable', { isOfTracker: true });
  const headers = KINDS_BY_NAME[tracker.kind].headers(address.credential);
  const api = trackerClient.open({ url: address.url, headers, deadline: performance.now() + DEADLINE });
  return reconcile(dependencies, { ticket, api });
}

/** What fails for the tracker as a whole makes its tickets wait; else it stays with the ticket. */
async function recordFailure(
  { database, log }: SyncDependencies,
  { ticket, error, now }: { ticket: ClaimedTicket; error: unknown; now: Instant },
): Promise<void> {
  const lease = ticketLease(database, ticket);
  const health = trackerHealth(database, ticket.tracker);
  if (error instanceof TrackerFailure && error.options.isOfTracker) {
    const { status = null, wait, isUncertain = false } = error.options;
    const failure: CallFailure = { reason: error.reason, status, at: now };
    const next = afterFailure(ticket.tracker, { ...failure, wait });
    await health.failed(next);
    const isCreation = ticket.key === null && isUncertain;
    const earliest = isCreation ? addMilliseconds(now, UNCERTAIN_PAUSE) : now;
    await lease.fail(failure, { dueAt: next.dueAt > earliest ? next.dueAt : earliest, isFinal: false });
    return;
  }
  if (error instanceof TrackerFailure) await health.succeeded(now);
  const { reason, status, pause } = reasonOf(error);
  if (pause !== undefined)
    log.warn({ err: error, tracker: ticket.tracker.id, workspace: ticket.workspaceId }, 'cannot compare a ticket');
  const isFinal = pause === undefined;
  const wait = pause ?? (ticket.key === null ? undefined : TICKET_PAUSE);
  const dueAt = wait === undefined ? null : addMilliseconds(now, wait);
  await lease.fail({ reason, status, at: now }, { dueAt, isFinal });
}

/** @returns `pause`: milliseconds after which a fault of our own is tried again; undefined: it is none */
function reasonOf(error: unknown): { reason: string; status: number | null; pause?: number } {
  if (error instanceof TrackerFailure) return { reason: error.reason, status: error.options.status ?? null };
  if (error instanceof DomainError) {
    if (error.code === 'invalid_resource_state' || error.code === 'not_found')
      return { reason: 'refused', status: null };
    if (error.code === 'service_unavailable') return { reason: 'unavailable', status: null, pause: INTERNAL_PAUSE };
  }
  return { reason: 'internal', status: null, pause: INTERNAL_PAUSE };
}
