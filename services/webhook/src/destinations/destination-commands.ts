/**
 * `destinations` tells chats, pagers and people what happens to incidents (contract: Destinations). A destination has a
 * kind (`kinds/`, one file each), an address that is sealed as a whole, filters, and a place in the event feed of its
 * workspace. Whoever is behind the feed is claimed under a lease (`send-destinations.ts`): the events behind its place are
 * read, described and filtered, joined to messages and sent in their order. The place moves behind a message once it was
 * accepted, so a crash repeats at most that one. A failure waits longer each time, up to an hour, and delays no other
 * destination: those that have failed get a part of the places alone. The commands of those who manage destinations are
 * here; each locks the row, raises the revision, ends the lease and writes the audit log in one transaction.
 */
import { checkRevision, checkSeesRestricted, invalidState, jsonEqual, type RestrictedCaller } from '@tocsin/http';
import { type Change, recordChange } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { type AllowedDestinations, calledStatusOf } from '@tocsin/safe-http';
import { endOfFeed, type FeedContext } from '../feed/read-feed.ts';
import type { IncidentClient } from '../subscriptions/clients/incidents.ts';
import type { SecretCipher } from '../subscriptions/secret-cipher.ts';
import { lockWorkspaces } from '../subscriptions/store/subscription-store.ts';
import { checkCreationRate } from '../shared/domain/creation-rate.ts';
import type { Time } from '../shared/store/time.ts';
import { checkGiven, openAddress, sealAddress } from './address.ts';
import { type Address, type Destination, MAX_CREATED_AN_HOUR, MAX_DESTINATIONS } from './domain/destination.ts';
import { checkRecipients } from './recipients.ts';
import { destinationStore } from './store/destination-store.ts';

export interface DestinationDependencies {
  database: Knex;
  time: Time;
  secretCipher: SecretCipher;
  allowed: AllowedDestinations;
  incidents: Pick<IncidentClient, 'eventContext'>;
  feed: FeedContext;
  /** Whether the operator has set a server for mail. */
  sendsMail: boolean;
  wakeRelay: () => void;
  /** Makes this process look at a workspace's destinations at once. */
  wakeDestinations: (workspaceId: number) => void;
}

/** What those who manage a destination set. */
export type Settings = Pick<Destination, 'name' | 'recipients' | 'filters' | 'template' | 'includeRestricted'> &
  Address;

export interface DestinationCommand extends Change {
  caller: RestrictedCaller;
}

/**
 * Creates a destination, which gets the events from then on (contract: Destinations).
 * @throws DomainError `invalid_request`, `invalid_resource_state` if the name is taken or the workspace has too many,
 *   `rate_limited` when it has created too many within an hour
 */
export async function createDestination(
  dependencies: DestinationDependencies,
  { kind, settings, caller, ...change }: DestinationCommand & { kind: Destination['kind']; settings: Settings },
): Promise<Destination> {
  const { database, time, secretCipher, allowed, feed, wakeRelay, wakeDestinations } = dependencies;
  const workspaceId = change.workspace.id;
  if (settings.includeRestricted) checkSeesRestricted(caller);
  const { origin, host, ...address } = checkGiven({ kind, ...settings }, allowed);
  await checkRecipients(dependencies, { workspaceId, kind, recipients: settings.recipients });
  const { place } = await endOfFeed(feed, { workspaceId, seesRestricted: true });
  const created = await database.transaction(async (trx) => {
    await lockWorkspaces(trx, [workspaceId]);
    const store = destinationStore(trx, workspaceId);
    const others = await store.list();
    if (others.length >= MAX_DESTINATIONS)
      throw invalidState(`The workspace has ${MAX_DESTINATIONS} destinations; archive one first`);
    checkName(settings.name, others);
    const now = await time(trx);
    const rate = { what: 'destinations', most: MAX_CREATED_AN_HOUR } as const;
    checkCreationRate(rate, await store.createdAt(rate.most), now);
    const { name, recipients, filters, template, includeRestricted } = settings;
    const destination: Destination = {
      ...{ id: await store.newId(), workspaceId, revision: 1, name, kind, origin, host },
      ...{ recipients, filters, template, includeRestricted, isPaused: false },
      hasCredential: address.credential !== '',
      headerNames: Object.keys(address.headers),
      ...{ createdAt: now, updatedAt: now, archivedAt: null, dueAt: now, place },
      ...{ failures: 0, failingSince: null, lastSuccessAt: null, lastFailure: null, leftOut: 0 },
    };
    await store.insert(destination, sealAddress(secretCipher, destination.id, address));
    await record(trx, change, { verb: 'created', before: null, after: destination });
    return destination;
  });
  wakeRelay();
  // So that this process knows that the workspace has one, before its first event.
  wakeDestinations(workspaceId);
  return created;
}

interface ChangeCommand extends DestinationCommand {
  id: number;
}

/**
 * Changes settings of a destination. What is sent from then on goes by them, and a failure waits no longer.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`
 */
export async function updateDestination(
  dependencies: DestinationDependencies,
  { expectedRevision, settings, ...command }: ChangeCommand & { expectedRevision: number; settings: Partial<Settings> },
): Promise<Destination> {
  const { recipients = [] } = settings;
  if (recipients.length > 0) {
    const workspaceId = command.workspace.id;
    // It does not change.
    const { kind } = await destinationStore(dependencies.database, workspaceId).get(command.id);
    await checkRecipients(dependencies, { workspaceId, kind, recipients });
  }
  return change(dependencies, command, {
    verb: 'updated',
    seesRestricted: settings.includeRestricted === true,
    apply: async ({ current, address, store }) => {
      checkRevision(current.revision, expectedRevision);
      const given = { ...address, ...current, ...settings };
      const { origin, host, ...changedAddress } = checkGiven(given, dependencies.allowed);
      if (given.name !== current.name) checkName(given.name, await store.list());
      const { name, filters, template, includeRestricted } = given;
      const after = {
        ...{ ...current, name, recipients: given.recipients, filters, template, includeRestricted, origin, host },
        hasCredential: changedAddress.credential !== '',
        headerNames: Object.keys(changedAddress.headers),
      };
      return jsonEqual({ ...current, ...address }, { ...after, ...changedAddress })
        ? undefined
        : { after, address: changedAddress };
    },
  });
}

/** Stops it, until it is resumed. Idempotent. @throws DomainError `not_found`, `invalid_resource_state` */
export const pauseDestination = async (dependencies: DestinationDependencies, command: ChangeCommand) =>
  change(dependencies, command, {
    verb: 'paused',
    isStop: true,
    apply: async ({ current, address }) =>
      current.isPaused ? undefined : { after: { ...current, isPaused: true }, address },
  });

/**
 * Sends again, from now on; what happened during a pause is left out. One that fails tries again at once, and leaves
 * nothing out. Idempotent.
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export async function resumeDestination(
  dependencies: DestinationDependencies,
  command: ChangeCommand,
): Promise<Destination> {
  const end = await endOfFeed(dependencies.feed, { workspaceId: command.workspace.id, seesRestricted: true });
  return change(dependencies, command, {
    verb: 'resumed',
    apply: async ({ current, address }) => {
      if (current.isPaused) return { after: { ...current, isPaused: false, place: end.place }, address };
      return current.failingSince === null && current.failures === 0 ? undefined : { after: current, address };
    },
  });
}

/** Ends it for good, and deletes its address. Idempotent. @throws DomainError `not_found` */
export const archiveDestination = async (dependencies: DestinationDependencies, command: ChangeCommand) =>
  change(dependencies, command, {
    verb: 'archived',
    isStop: true,
    apply: async ({ current, now }) =>
      current.archivedAt === null
        ? {
            after: { ...current, archivedAt: now, recipients: [], hasCredential: false, headerNames: [] },
            address: undefined,
          }
        : undefined,
  });

interface Changed {
  after: Destination;
  /** Undefined: it has none any more. */
  address: Address | undefined;
}

/** Changes a destination under its lock, with its entry in the audit log; undefined from `apply` changes nothing. */
async function change(
  dependencies: DestinationDependencies,
  { id, caller, ...command }: ChangeCommand,
  {
    verb,
    isStop = false,
    seesRestricted = false,
    apply,
  }: {
    verb: 'updated' | 'paused' | 'resumed' | 'archived';
    /** Whether it makes it send less, which needs no right to see restricted incidents. */
    isStop?: boolean;
    /** Whether it will get restricted incidents. */
    seesRestricted?: boolean;
    apply: (context: {
      current: Destination;
      address: Address;
      store: ReturnType<typeof destinationStore>;
      now: Instant;
    }) => Promise<Changed | undefined>;
  },
): Promise<Destination> {
  const { database, time, secretCipher, wakeRelay, wakeDestinations } = dependencies;
  const workspaceId = command.workspace.id;
  const changed = await database.transaction(async (trx) => {
    await lockWorkspaces(trx, [workspaceId]);
    const store = destinationStore(trx, workspaceId);
    const current = await store.getForUpdate(id);
    if ((current.includeRestricted && !isStop) || seesRestricted) checkSeesRestricted(caller);
    const sealed = await store.findAddress(id);
    if (sealed === undefined) {
      if (verb === 'archived') return current;
      throw invalidState('The destination is archived');
    }
    const now = await time(trx);
    const result = await apply({ current, address: openAddress(secretCipher, id, sealed), store, now });
    if (result === undefined) return current;
    const tryNow = { failures: 0, failingSince: null, dueAt: now };
    const after = { ...result.after, ...tryNow, revision: current.revision + 1, updatedAt: now };
    await store.update(after, result.address && sealAddress(secretCipher, id, result.address));
    await record(trx, command, { verb, before: current, after });
    return after;
  });
  wakeRelay();
  wakeDestinations(workspaceId);
  return changed;
}

function checkName(name: string, others: readonly Destination[]): void {
  if (others.some((other) => other.name.toLowerCase() === name.toLowerCase()))
    throw invalidState(`The workspace has a destination with the name ${name}`);
}

/** Records what somebody did to a destination in the audit log. */
const record = async (
  trx: Knex.Transaction,
  by: Change,
  { verb, before, after }: { verb: string; before: Destination | null; after: Destination },
): Promise<void> =>
  recordChange(trx, by, {
    action: `destination.${verb}`,
    target: { type: 'destination', id: String(after.id) },
    before: before === null ? null : stateOf(before),
    after: stateOf(after),
    now: after.updatedAt,
  });

function stateOf(destination: Destination) {
  const { name, kind, origin, headerNames, recipients, filters, template, includeRestricted, hasCredential } =
    destination;
  return {
    ...{ name, kind, url: origin, header_names: headerNames, recipients, filters, template },
    ...{ has_credential: hasCredential, include_restricted: includeRestricted, status: calledStatusOf(destination) },
  };
}
