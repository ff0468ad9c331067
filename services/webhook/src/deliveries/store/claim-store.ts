import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';
import { MAX_ATTEMPTS } from '../../queue/domain/delivery.ts';
import type { Destination, RequestLimits } from '../../requests/domain/limits.ts';
import { exhaustedKeys, exhaustedKeysValues } from '../../requests/store/limit-store.ts';
import { currentTime } from '../../shared/store/time.ts';

/** A delivery that is due, and its destination as far as it is known. */
export interface Candidate extends Destination {
  deliveryId: number;
  dueAt: Instant;
}

/** A leased delivery, with everything that an attempt needs. */
export interface Claim {
  deliveryId: number;
  token: string;
  workspaceId: number;
  subscriptionId: string;
  host: string;
  origin: string;
  url: Sealed;
  eventId: string;
  body: string;
  requestId: string | null;
  /** Whether the event is about a restricted incident. */
  isRestricted: boolean;
  /** The trace of the event, as `storableTrace` returns it. */
  trace: string | null;
  /** The number of this attempt; it is counted when its request is confirmed, or when it ends. */
  attempts: number;
  failedAttempts: number;
  /** Since the latest attempt. */
  internalFailures: number;
  deadlineAt: Instant;
  /** 0 for the first delivery of the event to the subscription; then how often operators asked for another one. */
  redelivery: number;
  /** The operator who asked for it. */
  requestedBy: string | null;
}

const PAGE = 64;

/**
 * Reads the first due deliveries of each subscription's queue, except those of workspaces, hosts and addresses whose limit
 * is reached. A loose index scan finds the queues, so the cost does not depend on their lengths. Deliveries that are
 * postponed are in no queue. It reads two of each, because a host has two slots. The lateral joins read one subscription
 * after the other: the planner overestimates the number of queues and would scan the whole table.
 */
const CANDIDATES = `
  with recursive moment as materialized (
    select ${currentTime('$1')} as now
  ), queues as (
    (select workspace_id, subscription_id from deliveries
      where status = 'queued' and not is_postponed and workspace_id > $2::bigint and workspace_id <= $3::bigint
      order by workspace_id, subscription_id limit 1)
    union all
    select next.workspace_id, next.subscription_id from queues cross join lateral (
      select workspace_id, subscription_id from deliveries
      where status = 'queued' and not is_postponed and workspace_id <= $3::bigint
        and (workspace_id, subscription_id) > (queues.workspace_id, queues.subscription_id)
      order by workspace_id, subscription_id limit 1
    ) as next
  ), exhausted as materialized (${exhaustedKeys(5)})
  select head.id as "deliveryId", head.due_at as "dueAt", queues.workspace_id as "workspaceId", subscription.host, address.ip
  from queues
  cross join lateral (
    select host from subscriptions where workspace_id = queues.workspace_id and id = queues.subscription_id limit 1
  ) as subscription
  left join lateral (select ip from host_addresses where host = subscription.host limit 1) as address on true
  cross join lateral (
    select id, due_at from deliveries
    where status = 'queued' and not is_postponed and workspace_id = queues.workspace_id and subscription_id = queues.subscription_id
      and due_at <= (select now from moment) and deadline_at > (select now from moment) and attempts < ${MAX_ATTEMPTS}
    order by due_at, id limit 2
  ) as head
  where subscription.host <> all($4::text[])
    and queues.workspace_id::text <> all(array(select key from exhausted where scope = 'workspace'))
    and subscription.host <> all(array(select key from exhausted where scope = 'host'))
    and (address.ip is null or address.ip <> all(array(select key from exhausted where scope = 'ip')))
  limit ${PAGE}`;

/**
 * Leases deliveries. Those that another transaction has locked are left for the next claim.
 */
const LEASE = `
  with chosen as (
    select workspace_id, id, token
    from unnest((select $1::bigint[]), (select $2::bigint[]), (select $3::uuid[])) as lease (workspace_id, id, token)
  ), free as (
    select deliveries.workspace_id, deliveries.id, chosen.token from chosen
    join deliveries on deliveries.workspace_id = chosen.workspace_id and deliveries.id = chosen.id
    where deliveries.status = 'queued' and deliveries.due_at <= $4
    for update of deliveries skip locked
  )
  update deliveries set lease_token = free.token, due_at = $5, is_postponed = true
  from free, events, subscriptions
  where deliveries.workspace_id = free.workspace_id and deliveries.id = free.id
    and events.workspace_id = deliveries.workspace_id and events.id = deliveries.event_id
    and subscriptions.workspace_id = deliveries.workspace_id and subscriptions.id = deliveries.subscription_id
  returning deliveries.id as "deliveryId", deliveries.lease_token as token, deliveries.workspace_id as "workspaceId",
    deliveries.subscription_id as "subscriptionId", deliveries.attempts + 1 as attempts,
    deliveries.failed_attempts as "failedAttempts", deliveries.internal_failures as "internalFailures",
    deliveries.deadline_at as "deadlineAt", deliveries.redelivery, deliveries.requested_by as "requestedBy",
    events.id as "eventId", events.body, events.request_id as "requestId", events.restricted as "isRestricted", events.trace_context as trace,
    subscriptions.host, subscriptions.origin, subscriptions.url_key_id as "keyId",
    subscriptions.url_ciphertext as ciphertext`;

type LeaseRow = Omit<Claim, 'url'> & Sealed;

/** More than a claim can lease; the rest is due in the next one. */
const MOST_DUE = 1_000;

const RETURN_DUE = `
  with due as materialized (
    select workspace_id, id from deliveries
    where status = 'queued' and is_postponed and due_at <= (select ${currentTime('$1')})
    order by due_at limit ${MOST_DUE} for update skip locked
  )
  update deliveries set is_postponed = false from due
  where deliveries.workspace_id = due.workspace_id and deliveries.id = due.id`;

/** Puts postponed deliveries whose time has come into the queues of their subscriptions, before candidates are looked for. */
export const returnDueStatement = (time: Instant | null): Statement<never> => ({
  name: 'return-due-deliveries',
  text: RETURN_DUE,
  values: [time],
});

/**
 * Two statements, which read due deliveries that no reached limit blocks: those of the workspaces behind `after`, and of
 * the others. Each reads a page at most.
 */
export function candidateStatements(options: {
  after: number;
  blockedHosts: readonly string[];
  limits: RequestLimits;
  time: Instant | null;
}): [Statement<Candidate>, Statement<Candidate>] {
  const { after, blockedHosts, limits, time } = options;
  const between = (from: number, to: number): Statement<Candidate> => ({
    name: 'find-candidates',
    text: CANDIDATES,
    values: [time, from, to, blockedHosts, ...exhaustedKeysValues('delivery', limits)],
  });
  return [between(after, Number.MAX_SAFE_INTEGER), between(0, after)];
}

/** The candidates of both statements in the order in which they are due. */
export function dueCandidates(first: readonly Candidate[], wrapped: readonly Candidate[]): Candidate[] {
  const candidates = first.length < PAGE ? [...first, ...wrapped] : [...first];
  return candidates.sort((a, b) => (a.dueAt === b.dueAt ? a.deliveryId - b.deliveryId : a.dueAt < b.dueAt ? -1 : 1));
}

/** Leases deliveries with these tokens, except those that another transaction has locked. */
export const leaseStatement = (
  leases: readonly { workspaceId: number; deliveryId: number; token: string }[],
  { now, until }: { now: Instant; until: Instant },
): Statement<LeaseRow> => ({
  name: 'lease-deliveries',
  text: LEASE,
  values: [
    leases.map(({ workspaceId }) => workspaceId),
    leases.map(({ deliveryId }) => deliveryId),
    leases.map(({ token }) => token),
    now,
    until,
  ],
});

export const toClaim = ({ keyId, ciphertext, ...claim }: LeaseRow): Claim => ({ ...claim, url: { keyId, ciphertext } });

/**
 * The time and the secrets that are valid, the current one first, if nothing has changed since the claim: the slot is
 * held for this address and this minute, and the delivery is leased and not held. Then it counts the attempt, and
 * remembers the address after that: whoever waits for a delivery must not hold the row of a host.
 */
const CONFIRM = `
  with confirmed as (
    select moment.now, slots.host, slots.ip
    from (select ${currentTime('$1')} as now) as moment
    join slots on slots.token = $2 and slots.lease_until > moment.now and slots.ip = $3
      and slots.minute = date_trunc('minute', moment.now)
  ), counted as (
    update deliveries set attempts = $5 from confirmed
    where deliveries.workspace_id = $6 and deliveries.lease_token = $2 and deliveries.status = 'queued'
    returning confirmed.now, confirmed.host, confirmed.ip
  ), remembered as (
    insert into host_addresses (host, ip, seen_at) select host, ip, now from counted
    on conflict (host) do update set ip = excluded.ip, seen_at = excluded.seen_at
  )
  select counted.now, secrets.key_id as "keyId", secrets.ciphertext from counted
  join secrets on secrets.workspace_id = $6 and secrets.subscription_id = $4
    and (secrets.expires_at is null or secrets.expires_at > counted.now)
  order by secrets.id desc`;

/** A claim whose request may be sent as it was planned. */
export interface ConfirmedClaim {
  now: Instant;
  secrets: Sealed[];
}

/**
 * Confirms a claim and counts its attempt, if its request changes nothing in the limits, with one statement and without
 * their locks. Returns undefined otherwise.
 */
export async function confirmClaim(
  db: Knex,
  {
    workspaceId,
    token,
    subscriptionId,
    attempts,
  }: Pick<Claim, 'workspaceId' | 'token' | 'subscriptionId' | 'attempts'>,
  { ip, time }: { ip: string; time: Instant | null },
): Promise<ConfirmedClaim | undefined> {
  const rows = await query<Sealed & { now: Instant }>(db, {
    name: 'confirm-claim',
    text: CONFIRM,
    values: [time, token, ip, subscriptionId, attempts, workspaceId],
  });
  const [first] = rows;
  return first && { now: first.now, secrets: rows.map(({ now: _now, ...secret }) => secret) };
}
