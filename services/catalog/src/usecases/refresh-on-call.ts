import type { Knex } from '@tocsin/postgres';
import { addMilliseconds, type Clock, type Logger } from '@tocsin/runtime';
import type { OnCallReader } from '../clients/on-call-reader.ts';
import type { ReadShifts } from '../domain/on-call.ts';
import { type ClaimedSource, claimSources, type Look, onCallStore } from '../store/on-call-store.ts';
import type { AddressCipher } from './on-call-addresses.ts';

/** Milliseconds between two looks at a source. */
export const REFRESH = 600_000;
/** Milliseconds between two looks at one that fails: twice as long after each failure, up to this. */
const MAX_PAUSE = 7_200_000;
/** Sources that a process reads at once. */
const BATCH = 16;

export interface RefreshDependencies {
  database: Knex;
  clock: Clock;
  addresses: AddressCipher;
  reader: OnCallReader;
  log: Logger;
}

/**
 * Reads some of the sources that are due. One that fails keeps the shifts that were read last. Each source has a lease, so
 * that processes share the work; a crash delays a source until the lease ends.
 * @returns whether there may be more
 */
export async function refreshOnCall(dependencies: RefreshDependencies): Promise<boolean> {
  const { database, clock } = dependencies;
  const sources = await claimSources(database, { now: clock.now(), limit: BATCH });
  await Promise.all(sources.map(async (source) => refresh(dependencies, source)));
  return sources.length > 0;
}

async function refresh({ database, clock, addresses, reader, log }: RefreshDependencies, source: ClaimedSource) {
  const address = addresses.open(source);
  const read: ReadShifts =
    address === undefined
      ? { kind: 'failure', reason: 'key', status: null }
      : await reader.read({ ...source, ...address }, clock.now());
  if (read.kind === 'failure' && source.failure === null) {
    const { workspaceId, teamId, origin } = source;
    const fields = { workspace: workspaceId, team: teamId, origin, reason: read.reason, status: read.status };
    log.warn(fields, 'cannot read who is on call; retrying');
  }
  await onCallStore(database, source.workspaceId).finish(source, lookOf(source, read, clock.now()));
}

function lookOf(before: ClaimedSource, read: ReadShifts, now: string): Look {
  if (read.kind === 'read') {
    const { shifts } = read;
    return { shifts, fetchedAt: now, failure: null, failures: 0, dueAt: addMilliseconds(now, REFRESH) };
  }
  const failures = before.failures + 1;
  const { reason, status } = read;
  return {
    ...{ shifts: undefined, fetchedAt: before.fetchedAt, failures },
    failure: { reason, status, since: before.failure?.since ?? now },
    dueAt: addMilliseconds(now, Math.min(REFRESH * 2 ** failures, MAX_PAUSE)),
  };
}
