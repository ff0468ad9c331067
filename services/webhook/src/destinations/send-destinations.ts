import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '@tocsin/http';
import { type Dispatcher, type Logger, startDispatcher } from '@tocsin/runtime';
import { FEED_TYPES } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import type { HostBreakers } from '../requests/clients/breakers.ts';
import { isRetryable } from '../queue/domain/delivery.ts';
import { readRetryAfter } from '../queue/domain/retry-after.ts';
import { type FeedContext, type FeedPage, readFeed, readFeedFrom } from '../feed/read-feed.ts';
import type { FeedPlace } from '../feed/domain/feed-place.ts';
import type { IncidentClient } from '../subscriptions/clients/incidents.ts';
import { type SecretCipher, UndecryptableError } from '../subscriptions/secret-cipher.ts';
import type { Time } from '../shared/store/time.ts';
import { openAddress } from './address.ts';
import type { MessageOutcome, Transport } from './clients/transport.ts';
import type { DestinationMetrics } from './destination-metrics.ts';
import { type Address, afterFailure } from './domain/destination.ts';
import { askedOf, describeEvent, type LinkOf } from './domain/describe-event.ts';
import type { Item } from './domain/kinds/kind.ts';
import { KINDS_BY_NAME, textMaker } from './domain/kinds/index.ts';
import { activeAmong, peopleOf } from './recipients.ts';
import { claimDestinations, type ClaimedDestination, doubtOf, findWorkspaces, leases } from './store/sending-store.ts';

export interface SendingDestinations {
  database: Knex;
  time: Time;
  secretCipher: SecretCipher;
  incidents: Pick<IncidentClient, 'eventContext'>;
  feed: FeedContext;
  send: Transport;
  linkOf: LinkOf;
  metrics: DestinationMetrics;
  log: Logger;
  /** Milliseconds between two messages to a chat; default: 1,000. */
  pace?: number | undefined;
}

/** Destinations that a process sends to at once, and of these by their doubt: those that may not answer keep no others. */
const MOST = 64;
const MOST_OF_DOUBT = [64, 24, 16] as const;
/** Milliseconds between two looks at all destinations, in case a notification is lost. */
const LOOK_INTERVAL = 60_000;
/** Events that are read at once. */
const PAGE = { limit: 50, maxBytes: 262_144 };
/** Events in a message. */
const MOST_JOINED = 20;
/** Milliseconds between two messages to a chat, which takes about one a second, and between two single events. */
const PACE = 1_000;
const PACE_OF_SINGLE = 100;
/** Pages under one lease: then others have a turn. */
const MOST_PAGES = 4;
/** Messages that are refused in a row: then the fault is not in the messages. */
const MOST_REFUSED = 5;
/** Milliseconds until it looks again at a host that does not answer. */
const BLOCKED_PAUSE = 1_000;
/** Milliseconds until it tries again after a fault of our own. */
const INTERNAL_PAUSE = 5_000;

/** Sends to destinations, and can be woken for a workspace. */
export interface DestinationDispatcher extends Dispatcher {
  /** Looks at its destinations at once. */
  wakeFor(workspaceId: number): void;
  /** The same of workspaces with new events, as far as this process knows their destinations: most have none. */
  recorded(workspaceIds: readonly number[]): void;
}

/** Starts the dispatcher that sends the events behind the places of destinations (contract: Destinations). */
export function startSendingToDestinations(
  dependencies: SendingDestinations,
  breakers: HostBreakers,
  interval = LOOK_INTERVAL,
): DestinationDispatcher {
  const { database, time, log } = dependencies;
  /** The workspaces to look at next, and those that had destinations since this process began. */
  let due = new Set<number>();
  const withDestinations = new Set<number>();
  let lookedAt = -Infinity;
  const running: [number, number, number] = [0, 0, 0];
  const dispatcher = startDispatcher<ClaimedDestination>({
    name: 'sending to destinations',
    interval,
    log,
    nextDue: async () => (due.size > 0 || performance.now() - lookedAt >= interval ? 0 : undefined),
    claim: async (inProgress) => {
      const start = performance.now();
      const isLook = start - lookedAt >= interval;
      const limit = MOST - inProgress;
      if (limit <= 0) return [];
      const limits = MOST_OF_DOUBT.map((most, doubt) => most - (running[doubt] ?? 0));
      const asked = due;
      due = new Set();
      try {
        if (isLook) {
          for (const id of await findWorkspaces(database)) withDestinations.add(id);
          if (withDestinations.size === 0) {
            lookedAt = start;
            return [];
          }
        }
        const claimed = await claimDestinations(database, {
          ...{ workspaceIds: isLook ? null : [...asked], blockedHosts: breakers.blockedHosts(), limit },
          ...{ limits, time: time.parameter() },
        });
        if (isLook) lookedAt = start;
        // There may be more of them, which the limits have kept.
        const mayBeMore = claimed.length > 0 || limits.includes(0);
        for (const id of mayBeMore ? [...(isLook ? withDestinations : asked)] : []) due.add(id);
        return claimed;
      } catch (error) {
        for (const id of asked) due.add(id);
        throw error;
      }
    },
    run: async (claimed, stopping) => {
      const doubt = doubtOf(claimed);
      running[doubt] += 1;
      try {
        const pause = await sendTo(dependencies, { breakers, claimed, stopping });
        wakeIn(claimed.workspaceId, pause);
      } finally {
        running[doubt] -= 1;
      }
    },
  });
  const wakeFor = (workspaceId: number) => {
    withDestinations.add(workspaceId);
    due.add(workspaceId);
    dispatcher.wake();
  };
  /** Later than the next look at all, that finds it. */
  const wakeIn = (workspaceId: number, pause: number) => {
    if (pause < interval) setTimeout(wakeFor, pause + 1, workspaceId).unref();
  };
  const recorded = (workspaceIds: readonly number[]) =>
    workspaceIds.filter((id) => withDestinations.has(id)).forEach(wakeFor);
  return { ...dispatcher, wakeFor, recorded };
}

interface Run {
  breakers: HostBreakers;
  claimed: ClaimedDestination;
  stopping: AbortSignal;
}

/** Sends what is behind the place of a destination, page by page. Returns the milliseconds until there may be more. */
async function sendTo(dependencies: SendingDestinations, { breakers, claimed, stopping }: Run): Promise<number> {
  const { database, time, log } = dependencies;
  const release = async (pause: number) => {
    await leases(database).release(claimed, pause, time.parameter());
    return pause;
  };
  if (claimed.host !== '' && !breakers.admit(claimed.host)) return release(BLOCKED_PAUSE);
  const progress: Progress = { failures: claimed.failures, failingSince: claimed.failingSince, refused: 0 };
  try {
    const result = await sendPages(dependencies, { claimed, progress, stopping });
    if (result.kind === 'failed') return await recordFailure(dependencies, { claimed, progress, failure: result });
    const { pace = PACE } = dependencies;
    return result.kind === 'lost' ? Infinity : await release(result.kind === 'paced' ? pace : 0);
  } catch (error) {
    if (stopping.aborted) return await release(0);
    const reason = error instanceof UndecryptableError ? 'undecryptable' : 'internal';
    log.warn(
      { err: error, destination: claimed.id, workspace: claimed.workspaceId, reason },
      'cannot send to a destination',
    );
    return await release(INTERNAL_PAUSE);
  } finally {
    if (claimed.host !== '') breakers.record(claimed.host, progress.isReachable);
  }
}

/** What has come of the messages under a lease so far. */
interface Progress extends Pick<ClaimedDestination, 'failures' | 'failingSince'> {
  /** Messages in a row. */
  refused: number;
  isReachable?: boolean;
}

interface Pages {
  claimed: ClaimedDestination;
  progress: Progress;
  stopping: AbortSignal;
}

type Result =
  /** All of the page. */
  | { kind: 'sent' }
  /** A message, and the next one has to wait. */
  | { kind: 'paced' }
  /** Somebody else holds the lease, or it was changed. */
  | { kind: 'lost' }
  | ({ kind: 'failed'; isDenied: boolean } & ReturnType<typeof failureOf>);

async function sendPages(dependencies: SendingDestinations, { claimed, progress, stopping }: Pages): Promise<Result> {
  const address = openAddress(dependencies.secretCipher, claimed.id, claimed.sealed);
  let { place } = claimed;
  for (let pages = 0; pages < MOST_PAGES && !stopping.aborted; pages += 1) {
    const page = await readPage(dependencies.feed, claimed, place);
    const result = await sendPage(dependencies, { claimed, progress, stopping, address, page });
    if (result.kind !== 'sent' || !page.hasMore) return result;
    ({ place } = page);
  }
  return { kind: 'sent' };
}

/** Returns the milliseconds until the next attempt. */
async function recordFailure(
  { database, time, metrics }: SendingDestinations,
  {
    claimed,
    progress,
    failure,
  }: { claimed: ClaimedDestination; progress: Progress; failure: Result & { kind: 'failed' } },
): Promise<number> {
  metrics.messages.inc({ result: 'failed' });
  const now = await time(database);
  const next = afterFailure(progress, { ...failure, at: now, retryAfter: readRetryAfter(failure.retryAfter, now) });
  await leases(database).fail(claimed, next);
  return Date.parse(next.dueAt) - Date.parse(now);
}

/** The events behind a place; if they are deleted already, those that are left. */
async function readPage(feed: FeedContext, claimed: ClaimedDestination, place: FeedPlace): Promise<FeedPage> {
  const { workspaceId, filters, includeRestricted } = claimed;
  const types = filters.event_types.length === 0 ? FEED_TYPES : filters.event_types;
  const query = { workspaceId, types, seesRestricted: includeRestricted, ...PAGE };
  return readFeed(feed, { ...query, after: place }).catch(async (error: unknown) => {
    if (error instanceof DomainError && error.code === 'cursor_expired')
      return readFeedFrom(feed, { ...query, since: null });
    throw error;
  });
}

/** Sends the events of a page that pass the filters. Moves the place behind each message that was accepted. */
async function sendPage(
  dependencies: SendingDestinations,
  { claimed, progress, stopping, address, page }: Pages & { address: Address; page: FeedPage },
): Promise<Result> {
  const { database, time, send, metrics, pace = PACE } = dependencies;
  const kind = KINDS_BY_NAME[claimed.kind];
  const { items, recipients } = await itemsOf(dependencies, claimed, page);
  const to = { ...address, workspaceId: claimed.workspaceId, recipients };
  const advance = async (place: FeedPlace, more: { isSuccess: boolean; leftOut: number }) =>
    leases(database).advance(claimed, { place, ...more, time: time.parameter() });
  for (let at = 0; at < items.length;) {
    const batch = items.slice(at, at + batchSize(items.slice(at), claimed.kind));
    const outcome = await send(kind.message(batch, to));
    if (outcome.kind === 'success' || !outcome.isLocal)
      progress.isReachable = outcome.kind === 'success' || outcome.status !== undefined;
    const verdict = verdictOf(outcome);
    if (verdict === 'refused' && batch.length > 1) {
      // Each is sent by itself, so that the one that is refused keeps no other.
      items.splice(at, batch.length, ...batch.map((item) => ({ ...item, isAlone: true })));
    } else {
      progress.refused = verdict === 'refused' ? progress.refused + 1 : 0;
      if (outcome.kind === 'failure' && (verdict !== 'refused' || progress.refused === MOST_REFUSED))
        return { kind: 'failed', ...failureOf(outcome), isDenied: verdict === 'denied' };
      const isSuccess = outcome.kind === 'success';
      metrics.messages.inc({ result: isSuccess ? 'sent' : 'refused' });
      if (isSuccess) Object.assign(progress, { failures: 0, failingSince: null });
      at += batch.length;
      const place = at === items.length ? page.place : (batch.at(-1)?.place ?? page.place);
      const moved = await advance(place, { isSuccess, leftOut: isSuccess ? 0 : 1 });
      if (!moved) return { kind: 'lost' };
    }
    // Others are sent to meanwhile, and what happens meanwhile is joined.
    if (kind.joins && verdict === 'accepted' && items[at]?.isAlone !== true) return { kind: 'paced' };
    await delay(kind.joins ? pace : PACE_OF_SINGLE, undefined, { signal: stopping });
  }
  if (items.length === 0 && !(await advance(page.place, { isSuccess: false, leftOut: 0 }))) return { kind: 'lost' };
  return { kind: 'sent' };
}

/** An item, and the place of its event. */
type Placed = Item & { place: FeedPlace; isAlone?: boolean };

/** The events of a page that pass the filters, with their texts, and the recipients who are active; none for nobody. */
async function itemsOf(
  { incidents, linkOf }: SendingDestinations,
  { workspaceId, kind: name, filters, template, recipients: stored }: ClaimedDestination,
  { events }: FeedPage,
): Promise<{ items: Placed[]; recipients: readonly string[] }> {
  if (events.length === 0) return { items: [], recipients: [] };
  const kind = KINDS_BY_NAME[name];
  const people = peopleOf({ kind: name, recipients: stored });
  const asked = { workspace_id: workspaceId, ...askedOf(events), emails: [...people] };
  const context = await incidents.eventContext(asked);
  const recipients = activeAmong({ kind: name, recipients: stored }, context);
  if (kind.needs.recipients === 'required' && recipients.length === 0) return { items: [], recipients };
  const textOf = textMaker({ kind: name, template });
  const items = events.flatMap(({ position, mark, ...event }) => {
    const described = describeEvent(event, { filters, context, linkOf });
    if (described === undefined || kind.takes?.(described) === false) return [];
    return [{ ...described, text: textOf(described), place: { position, mark } }];
  });
  return { items, recipients };
}

/** How many of the items fit in one message. */
function batchSize(items: readonly Placed[], name: ClaimedDestination['kind']): number {
  const { joins, markup } = KINDS_BY_NAME[name];
  if (!joins || markup === undefined) return 1;
  let [count, length] = [0, 0];
  for (const { text, isAlone = false } of items.slice(0, MOST_JOINED)) {
    length += text.length + 2;
    if (count > 0 && (isAlone || length > markup.limit)) break;
    count += 1;
    if (isAlone) break;
  }
  return count;
}

/** The receiver does not accept who sends, or there is nothing (any more) at the address; a redirect may lead anywhere. */
const DENIED = new Set([401, 403, 404, 405, 407, 410]);

function verdictOf(outcome: MessageOutcome): 'accepted' | 'refused' | 'denied' | 'unavailable' {
  if (outcome.kind === 'success') return 'accepted';
  const { status } = outcome;
  if (status === undefined || isRetryable(status)) return 'unavailable';
  return status >= 400 && status <= 499 && !DENIED.has(status) ? 'refused' : 'denied';
}

const failureOf = (outcome: MessageOutcome & { kind: 'failure' }) => ({
  reason: outcome.reason,
  status: outcome.status ?? null,
  isLocal: outcome.isLocal,
  retryAfter: outcome.retryAfter,
});
