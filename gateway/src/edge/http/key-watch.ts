import { DomainError } from '@tocsin/http';
import { type Clock, type Logger, startPeriodicTask } from '@tocsin/runtime';
import type { Caller, Identities } from '../../identity/http/identities.ts';
import { permissionsOf } from '../../identity/domain/roles.ts';
import type { Identity } from '../../identity/store/identity-store.ts';
import type { RequestContext } from '../../requests/http/request-context.ts';
import type { Operation } from '../../routes/domain/route-table.ts';
import { checkAccess } from '../domain/access.ts';

/** The keys of all requests that are under way or wait (contract: Authentication). */
export interface KeyWatch {
  /** Adds a request until its response is closed. The signal is aborted with its refusal once its key allows less. */
  enter(context: RequestContext, caller: Caller, operation: Operation): AbortSignal;
  /** Identities have changed: checks all keys now. */
  recheck(): void;
  stop(): Promise<void>;
}

interface Watched {
  caller: Caller;
  operation: Operation;
  abort: AbortController;
}

/**
 * Milliseconds between two checks of all keys, for keys that expire, and in case a notice of a change is lost. The version
 * of all identities is read in the background when it is half as old as it may be; the next check but one knows a change.
 */
const RECHECK_INTERVAL = 250;

export function keyWatch(options: { identities: Identities; clock: Clock; log: Logger }): KeyWatch {
  const { identities, clock, log } = options;
  /** By the digest of their token, so that each token is looked up once. */
  const byDigest = new Map<string, Set<Watched>>();

  const checkKey = async (digest: string, requests: ReadonlySet<Watched>): Promise<void> => {
    const [first] = requests;
    if (first === undefined) return;
    const { slug } = first.caller.identity.workspace;
    const current = await identities.findByDigest({ slug, digest });
    const now = clock.now();
    for (const { caller, operation, abort } of requests) {
      const reason = refusalOf({ identity: caller.identity, current: current?.identity, operation, now });
      if (reason !== undefined) abort.abort(reason);
    }
  };

  const task = startPeriodicTask({
    name: 'checking the keys of requests under way',
    interval: RECHECK_INTERVAL,
    log,
    work: async () => {
      // A key that cannot be looked up now is checked again next time: without the database no key can be revoked.
      await Promise.allSettled([...byDigest].map(async ([digest, requests]) => checkKey(digest, requests)));
      return false;
    },
  });

  return {
    enter: ({ response }, caller, operation) => {
      const { digest } = caller;
      const watched = { caller, operation, abort: new AbortController() };
      const { signal } = watched.abort;
      if (response.destroyed) return signal;
      const requests = byDigest.get(digest) ?? new Set();
      byDigest.set(digest, requests.add(watched));
      response.once('close', () => {
        requests.delete(watched);
        if (requests.size === 0 && byDigest.get(digest) === requests) byDigest.delete(digest);
      });
      return signal;
    },
    recheck: task.wake,
    stop: task.stop,
  };
}

/** Why a key that was looked up again no longer allows all that it did; undefined if it does. */
function refusalOf({
  identity,
  current,
  operation,
  now,
}: {
  identity: Identity;
  current: Identity | undefined;
  operation: Operation;
  now: string;
}): DomainError | undefined {
  const { expiresAt } = current ?? identity;
  const hasEnded = expiresAt !== null && expiresAt <= now;
  if (current === undefined || hasEnded) return hasChanged();
  if (current === identity) return undefined;
  try {
    checkAccess(current, operation);
  } catch (error) {
    return error as DomainError;
  }
  // Other handlers use no rights but those that their operations require.
  if (operation.wait === undefined) return undefined;
  const permissions = permissionsOf(current.role);
  const isLess =
    identity.scopes.some((scope) => !current.scopes.includes(scope)) ||
    (identity.seat === 'responder' && current.seat !== 'responder') ||
    permissionsOf(identity.role).some((permission) => !permissions.includes(permission));
  return isLess ? hasChanged() : undefined;
}

const hasChanged = () =>
  new DomainError('authentication_required', 'The token or what it allows has changed during the request', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
