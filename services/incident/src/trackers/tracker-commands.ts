/**
 * `trackers` makes tickets of follow-ups in GitHub, Jira, GitLab and Linear, and keeps both in the same state (contract:
 * Trackers) (ADR 124). A kind is one file of `clients/kinds/`. Of each ticket is stored on which of two states both last
 * agreed. Whoever claims one under a lease (`sync-tickets.ts`) reads the state there, and `reconcile.ts` changes the side
 * that still has the old one: since there are only two states, both cannot have left it for different ones. A change
 * here makes the ticket due in its own transaction; a signed webhook (`receive-hook.ts`) only makes it due, too; else it
 * is looked at every quarter of an hour. A crash anywhere leaves the lease to end, and the next look finds what is still
 * to be done. Before a ticket is made, it is stored that it may be there; from then on a marker in it is looked for
 * first, so that a lost answer makes no second one. What fails for a tracker as a whole makes all its tickets wait; what
 * fails for one ticket is shown on its follow-up. The commands of those who manage trackers are here: each locks the row,
 * raises the revision and writes the audit log in one transaction.
 */
import { randomBytes } from 'node:crypto';
import {
  checkRevision,
  checkSeesRestricted,
  invalidRequest,
  invalidState,
  jsonEqual,
  notFound,
  type RestrictedCaller,
} from '@tocsin/http';
import { type Change, recordChange } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { Clock, Instant, Keyring } from '@tocsin/runtime';
import { type AllowedDestinations, calledStatusOf } from '@tocsin/safe-http';
import type { WorkspaceContext } from '@tocsin/schemas';
import { checkGiven, openAddress, sealAddress } from './address.ts';
import { type Address, MAX_TRACKERS, type Tracker } from './domain/tracker.ts';
import { forgetArchived, trackerStore } from './store/tracker-store.ts';

export interface TrackerDependencies {
  database: Knex;
  clock: Clock;
  trackerKeys: Keyring;
  allowed: AllowedDestinations;
  wakeRelay: () => void;
  /** Makes this process look for tickets that are due. */
  wakeTrackers: () => void;
}

/** What those who manage a tracker set. */
export type Settings = Pick<Tracker, 'name' | 'project' | 'issueType' | 'autoFilters' | 'includeRestricted'> &
  Pick<Address, 'url' | 'credential'>;

export interface TrackerCommand extends Change {
  caller: RestrictedCaller;
  /** Whose quotas and slug apply to what the tracker changes. */
  context: WorkspaceContext;
}

/**
 * Creates a tracker (contract: Trackers).
 * @returns the secret of its webhook too, which cannot be read again
 * @throws DomainError `invalid_request`, `invalid_resource_state` if the name is taken or the workspace has too many
 */
export async function createTracker(
  dependencies: TrackerDependencies,
  { kind, settings, caller, context, ...change }: TrackerCommand & { kind: Tracker['kind']; settings: Settings },
): Promise<{ tracker: Tracker; secret: string }> {
  const { database, clock, trackerKeys, allowed, wakeRelay } = dependencies;
  const workspaceId = change.workspace.id;
  if (settings.includeRestricted) checkSeesRestricted(caller);
  const { name, credential, autoFilters, includeRestricted } = settings;
  const { url, origin, project, issueType } = checkGiven({ kind, ...settings }, allowed);
  const secret = newSecret();
  const created = await database.transaction(async (trx) => {
    const store = trackerStore(trx, workspaceId);
    await store.lock();
    const others = await store.list();
    if (others.length >= MAX_TRACKERS)
      throw invalidState(`The workspace has ${MAX_TRACKERS} trackers; archive one first`);
    checkName(name, others);
    await forgetArchived(trx, workspaceId);
    const now = clock.now();
    const tracker: Tracker = {
      ...{ id: await store.newId(), workspaceId, revision: 1, name, kind, origin, project, issueType },
      ...{ autoFilters, includeRestricted, workspace: context, isPaused: false },
      ...{ createdAt: now, updatedAt: now, archivedAt: null },
      ...{ failures: 0, failingSince: null, lastSuccessAt: null, lastFailure: null, dueAt: now },
    };
    await store.insert(tracker, sealAddress(trackerKeys, tracker.id, { url, credential, secret }));
    await record(trx, change, { verb: 'created', before: null, after: tracker });
    return tracker;
  });
  wakeRelay();
  return { tracker: created, secret };
}

/** 43 characters have 256 bits of entropy. */
const newSecret = () => `tracksec_${randomBytes(32).toString('base64url')}`;

interface ChangeCommand extends TrackerCommand {
  id: number;
}

/**
 * Changes settings of a tracker. Its tickets stay where they are.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`
 */
export const updateTracker = async (
  dependencies: TrackerDependencies,
  { expectedRevision, settings, ...command }: ChangeCommand & { expectedRevision: number; settings: Partial<Settings> },
): Promise<Tracker> =>
  change(dependencies, command, {
    verb: 'updated',
    seesRestricted: settings.includeRestricted === true,
    apply: async ({ current, address, store }) => {
      checkRevision(current.revision, expectedRevision);
      if (address === undefined) throw invalidState('No key opens what the tracker has stored; create another one');
      const given = { ...address, ...current, ...settings };
      const { url, origin, project, issueType } = checkGiven(given, dependencies.allowed);
      if (origin !== current.origin && settings.credential === undefined)
        throw invalidRequest('credential', 'Is required for another host');
      const { name, autoFilters, includeRestricted, credential } = given;
      if (name !== current.name) checkName(name, await store.list());
      const after = { ...current, name, origin, project, issueType, autoFilters, includeRestricted };
      const changed = { ...address, url, credential };
      return jsonEqual({ ...current, ...address }, { ...after, ...changed }) ? undefined : { after, address: changed };
    },
  });

/** Stops it, until it is resumed. Idempotent. @throws DomainError `not_found`, `invalid_resource_state` */
export const pauseTracker = async (dependencies: TrackerDependencies, command: ChangeCommand) =>
  change(dependencies, command, {
    verb: 'paused',
    isStop: true,
    apply: async ({ current }) =>
      current.isPaused ? undefined : { after: { ...current, isPaused: true }, address: 'same' },
  });

/** Asks it again; one that fails is asked at once. Idempotent. @throws DomainError `not_found`, `invalid_resource_state` */
export const resumeTracker = async (dependencies: TrackerDependencies, command: ChangeCommand) =>
  change(dependencies, command, {
    verb: 'resumed',
    apply: async ({ current }) =>
      current.isPaused || current.failures > 0
        ? { after: { ...current, isPaused: false }, address: 'same' }
        : undefined,
  });

/** Ends it for good, and deletes its address. Its tickets stay as they are. Idempotent. @throws DomainError `not_found` */
export const archiveTracker = async (dependencies: TrackerDependencies, command: ChangeCommand) =>
  change(dependencies, command, {
    verb: 'archived',
    isStop: true,
    apply: async ({ current, now }) =>
      current.archivedAt === null
        ? { after: { ...current, archivedAt: now, autoFilters: null }, address: undefined }
        : undefined,
  });

interface Changed {
  after: Tracker;
  /** Undefined: it has none any more. */
  address: Address | 'same' | undefined;
}

/** Changes a tracker under its lock, with its entry in the audit log; undefined from `apply` changes nothing. */
async function change(
  { database, clock, trackerKeys, wakeRelay, wakeTrackers }: TrackerDependencies,
  { id, caller, context, ...command }: ChangeCommand,
  {
    verb,
    isStop = false,
    seesRestricted = false,
    apply,
  }: {
    verb: 'updated' | 'paused' | 'resumed' | 'archived';
    /** Whether it makes it do less, which needs no right to see restricted incidents. */
    isStop?: boolean;
    /** Whether it will get restricted incidents. */
    seesRestricted?: boolean;
    apply: (context: {
      current: Tracker;
      /** Undefined: no configured key opens it. */
      address: Address | undefined;
      store: ReturnType<typeof trackerStore>;
      now: Instant;
    }) => Promise<Changed | undefined>;
  },
): Promise<Tracker> {
  const workspaceId = command.workspace.id;
  const changed = await database.transaction(async (trx) => {
    const store = trackerStore(trx, workspaceId);
    await store.lock();
    const current = await store.getForUpdate(id);
    if ((current.includeRestricted && !isStop) || seesRestricted) checkSeesRestricted(caller);
    const sealed = await store.findAddress(id);
    if (sealed === undefined) {
      if (verb === 'archived') return current;
      throw invalidState('The tracker is archived');
    }
    const now = clock.now();
    const address = openAddress(trackerKeys, id, sealed);
    const result = await apply({ current, address, store, now });
    if (result === undefined) return current;
    const tryNow = { failures: 0, failingSince: null, dueAt: now };
    const after = { ...result.after, ...tryNow, workspace: context, revision: current.revision + 1, updatedAt: now };
    const changed = result.address === 'same' ? sealed : result.address && sealAddress(trackerKeys, id, result.address);
    await store.update(after, changed);
    await record(trx, command, { verb, before: current, after });
    return after;
  });
  wakeRelay();
  wakeTrackers();
  return changed;
}

function checkName(name: string, others: readonly Tracker[]): void {
  if (others.some((other) => other.name.toLowerCase() === name.toLowerCase()))
    throw invalidState(`The workspace has a tracker with the name ${name}`);
}

/** @throws DomainError `not_found` */
export async function getTracker(database: Knex, workspaceId: number, id: number): Promise<Tracker> {
  const tracker = await trackerStore(database, workspaceId).find(id);
  if (tracker === undefined) throw notFound('The tracker');
  return tracker;
}

/** Records what somebody did to a tracker in the audit log. */
const record = async (
  trx: Knex.Transaction,
  by: Change,
  { verb, before, after }: { verb: string; before: Tracker | null; after: Tracker },
): Promise<void> =>
  recordChange(trx, by, {
    action: `tracker.${verb}`,
    target: { type: 'tracker', id: String(after.id) },
    before: before && recordedState(before),
    after: recordedState(after),
    now: after.updatedAt,
  });

function recordedState(tracker: Tracker) {
  const { name, kind, origin, project, issueType, autoFilters, includeRestricted } = tracker;
  return {
    ...{ name, kind, url: origin, project, issue_type: issueType, auto_filters: autoFilters },
    ...{ include_restricted: includeRestricted, status: calledStatusOf(tracker) },
  };
}
