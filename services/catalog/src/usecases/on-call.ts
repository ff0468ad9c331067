import { invalidRequest, invalidState, jsonEqual, shareExceeded } from '@tocsin/http';
import { type Change, recordChange } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import { addMilliseconds, type Clock, currentDryRun, type FairQueue, type Instant } from '@tocsin/runtime';
import {
  type AllowedDestinations,
  DESTINATION_PROBLEMS,
  findDestinationProblem,
  HOW_TO_ALLOW,
} from '@tocsin/safe-http';
import { checkNotArchived } from '@tocsin/versioned-resources';
import type { OnCallReader, Source } from '../clients/on-call-reader.ts';
import {
  type KnownShifts,
  nowAndNext,
  type OnCallAddress,
  type OnCallFailure,
  type OnCallKind,
  type OnCallSource,
  type ReadShifts,
  type Shift,
  userOf,
} from '../domain/on-call.ts';
import { onCallStore, type StoredSource } from '../store/on-call-store.ts';
import { teamStore } from '../store/team-store.ts';
import { userStore } from '../store/user-store.ts';
import type { AddressCipher } from './on-call-addresses.ts';
import { REFRESH } from './refresh-on-call.ts';

export interface OnCallDependencies {
  database: Knex;
  clock: Clock;
  addresses: AddressCipher;
  reader: OnCallReader;
  /** Leases of workspaces, for sources that requests wait for. */
  reads: FairQueue<number>;
  allowed: AllowedDestinations;
  wakeRelay: () => void;
}

/** Teams of a workspace that have a source. */
const MAX_SOURCES = 200;

/** Somebody on call; without an ID, it is not certain which user that is. */
export interface PersonOnCall {
  userId: number | null;
  name: string;
  email: string | null;
  from: Instant;
  until: Instant;
}

export interface OnCall extends Pick<KnownShifts, 'fetchedAt' | 'failure'> {
  /** Null: the team has none. */
  source: OnCallSource | null;
  now: PersonOnCall[];
  next: PersonOnCall[];
}

/**
 * Returns who is on call for a team, and who is next, as it was read last (contract: Catalog, On call).
 * @throws DomainError `not_found`
 */
export async function getOnCall(
  { database, clock }: Pick<OnCallDependencies, 'database' | 'clock'>,
  { workspaceId, teamId }: { workspaceId: number; teamId: number },
): Promise<OnCall> {
  const { id } = await teamStore(database, workspaceId).get(teamId);
  const [source] = await onCallStore(database, workspaceId).find([id]);
  return view({ database, clock }, workspaceId, source);
}

async function view(
  { database, clock }: Pick<OnCallDependencies, 'database' | 'clock'>,
  workspaceId: number,
  source: Omit<StoredSource, 'workspaceId' | 'teamId' | 'sealed' | 'failures'> | undefined,
): Promise<OnCall> {
  if (source === undefined) return { source: null, fetchedAt: null, failure: null, now: [], next: [] };
  const { kind, origin, scheduleId, shifts, fetchedAt, failure } = source;
  const { now, next } = nowAndNext(shifts, clock.now());
  const personOf = await peopleOf(database, workspaceId, [...now, ...next]);
  return {
    source: { kind, origin, scheduleId },
    ...{ fetchedAt, failure, now: now.map(personOf), next: next.map(personOf) },
  };
}

/** Returns the first user who is on call now for each of these teams that has one. */
export async function usersOnCall(
  { database, clock }: Pick<OnCallDependencies, 'database' | 'clock'>,
  { workspaceId, teamIds }: { workspaceId: number; teamIds: readonly number[] },
): Promise<{ teamId: number; userId: number }[]> {
  const sources = await onCallStore(database, workspaceId).find(teamIds);
  const moment = clock.now();
  const current = sources.map(({ teamId, shifts }) => ({ teamId, now: nowAndNext(shifts, moment).now }));
  const personOf = await peopleOf(
    database,
    workspaceId,
    current.flatMap(({ now }) => now),
  );
  return current.flatMap(({ teamId, now }) => {
    const userId = now.map(personOf).find((person) => person.userId !== null)?.userId;
    return typeof userId === 'number' ? [{ teamId, userId }] : [];
  });
}

/** Looks up the users of shifts. */
async function peopleOf(
  database: Knex,
  workspaceId: number,
  shifts: readonly Shift[],
): Promise<(shift: Shift) => PersonOnCall> {
  const candidates = shifts.length === 0 ? [] : await userStore(database, workspaceId).findNamedIn(shifts);
  return (shift) => {
    const { from, until } = shift;
    const user = userOf(shift, candidates);
    return user === undefined
      ? { userId: null, name: shift.name, email: shift.emails[0] ?? null, from, until }
      : { userId: user.id, name: user.name, email: user.email, from, until };
  };
}

export interface SetOnCallCommand extends Change {
  teamId: number;
  kind: OnCallKind;
  address: OnCallAddress;
  scheduleId: string | null;
}

/**
 * Sets where it stands who is on call for a team, reads it, and returns who that is (contract: Catalog, On call).
 * @throws DomainError `not_found`, `invalid_resource_state` for an archived team or too many sources, `invalid_request`
 *   naming what cannot be read
 */
export async function setOnCall(
  dependencies: OnCallDependencies,
  { teamId, kind, address, scheduleId, ...change }: SetOnCallCommand,
): Promise<OnCall> {
  const { database, clock, addresses, wakeRelay } = dependencies;
  const workspaceId = change.workspace.id;
  checkNotArchived(await teamStore(database, workspaceId).get(teamId));
  const url = checkUrl(address.url, dependencies.allowed);
  const now = clock.now();
  const reading = { kind, scheduleId, url: url.href, credential: address.credential };
  const read = await readOnce(dependencies, workspaceId, { source: reading, now });
  if (read.kind === 'failure') throw invalidRequest(fieldOf(kind, read), `Cannot be read: ${describe(read)}`);
  const source = {
    ...{ kind, origin: url.origin, scheduleId },
    ...{ shifts: read.shifts, fetchedAt: now, failure: null },
  };
  await database.transaction(async (trx) => {
    checkNotArchived(await teamStore(trx, workspaceId).getForUpdate(teamId));
    const store = onCallStore(trx, workspaceId);
    const [before] = await store.find([teamId]);
    if (before === undefined && (await store.countOthers(teamId)) >= MAX_SOURCES)
      throw invalidState(`${MAX_SOURCES} teams of the workspace have a source of who is on call`);
    const place = { workspaceId, teamId };
    const sealed = addresses.seal({ url: url.href, credential: address.credential }, place);
    await store.put({ ...source, teamId, sealed, dueAt: addMilliseconds(now, REFRESH) });
    const isSame =
      before !== undefined &&
      jsonEqual(stateOf(before), stateOf(source)) &&
      jsonEqual(addresses.open(before), addresses.open({ ...place, sealed }));
    if (!isSame) await record(trx, change, { teamId, before, after: source, now });
  });
  wakeRelay();
  return view(dependencies, workspaceId, source);
}

/** One at a time of each workspace: their servers may be slow. A dry run reads nothing. */
async function readOnce(
  { reader, reads }: OnCallDependencies,
  workspaceId: number,
  { source, now }: { source: Source; now: Instant },
): Promise<ReadShifts> {
  if (currentDryRun() !== undefined) return { kind: 'read', shifts: [] };
  const lease = reads.tryTake(workspaceId);
  if (lease === undefined)
    throw shareExceeded('Another source of who is on call is being read; try again afterwards', {
      reason: 'on_call_reads',
    });
  try {
    return await reader.read(source, now);
  } finally {
    lease.release();
  }
}

/** Forgets where it stands who is on call for a team. Idempotent. @throws DomainError `not_found`, `invalid_resource_state` */
export async function removeOnCall(
  { database, clock, wakeRelay }: Pick<OnCallDependencies, 'database' | 'clock' | 'wakeRelay'>,
  { teamId, ...change }: Change & { teamId: number },
): Promise<void> {
  const workspaceId = change.workspace.id;
  await database.transaction(async (trx) => {
    checkNotArchived(await teamStore(trx, workspaceId).getForUpdate(teamId));
    const store = onCallStore(trx, workspaceId);
    const [before] = await store.find([teamId]);
    if (before === undefined) return;
    await store.remove(teamId);
    await record(trx, change, { teamId, before, after: undefined, now: clock.now() });
  });
  wakeRelay();
}

/** Names are resolved, and their addresses checked, at each request. */
function checkUrl(text: string, allowed: AllowedDestinations): URL {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:') throw invalidRequest('url', 'Must be an absolute https URL');
  if (url.username !== '' || url.password !== '') throw invalidRequest('url', 'Must not contain credentials');
  const problem = findDestinationProblem(url, allowed);
  if (problem !== undefined) throw invalidRequest('url', DESTINATION_PROBLEMS[problem]);
  return url;
}

/** What of the request is wrong, as far as the answer shows that. */
function fieldOf(kind: OnCallKind, { status }: OnCallFailure): 'url' | 'credential' | 'schedule_id' {
  if (kind === 'icalendar' || status === null) return 'url';
  if (status === 401 || status === 403) return 'credential';
  return status === 400 || status === 404 ? 'schedule_id' : 'url';
}

const REASONS: Record<OnCallFailure['reason'], string> = {
  address: `no public address was found for its server; ${HOW_TO_ALLOW}`,
  connection: 'the connection to its server failed',
  content: 'it does not have the expected form',
  key: 'no key opens its address',
  status: 'the server refuses it',
  timeout: 'it did not arrive in time',
  tls: 'the TLS certificate or protocol of its server is not trusted',
  too_complex: 'it takes too long to read',
  too_large: 'it is larger than 1 MiB',
};

const describe = ({ reason, status }: OnCallFailure): string =>
  reason === 'status' ? `${REASONS[reason]} (status ${status})` : REASONS[reason];

/** What the audit log has of a source. */
const stateOf = ({ kind, origin, scheduleId }: OnCallSource) => ({ kind, url: origin, schedule_id: scheduleId });

const record = async (
  trx: Knex.Transaction,
  by: Change,
  entry: { teamId: number; before: OnCallSource | undefined; after: OnCallSource | undefined; now: Instant },
): Promise<void> =>
  recordChange(trx, by, {
    action: entry.after === undefined ? 'on_call.removed' : 'on_call.set',
    target: { type: 'team', id: String(entry.teamId) },
    before: entry.before === undefined ? null : stateOf(entry.before),
    after: entry.after === undefined ? null : stateOf(entry.after),
    now: entry.now,
  });
