/**
 * `replicas` is copies of what incidents refer to and other services own: users, teams, services with their tiers, and
 * definitions of fields. Events of the owners update them (`messaging/replicas.ts`). Before a request relies on one,
 * `refresh` compares its version with the one that the owner has announced, and fetches what is missing, as long as a
 * request may wait for it; the rest is fetched in the background. Each page of changes is a transaction, which locks
 * the row of the version first, so that pulls of a workspace take turns, and an older response replaces nothing newer.
 * After a crash the next pull continues there. A replica may be stale: what it allows is accepted, and before it
 * refuses anything its owner is asked; without the owner, what a replica that may be stale would refuse is 503 (ADR
 * 17).
 */
import type { WorkspaceContext } from '@tocsin/schemas';
import { DomainError, serviceUnavailable } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { boundedCache, type Logger, type Versions } from '@tocsin/runtime';
import type { ReplicaPulls } from '@tocsin/service-host';
import type { Owners } from './clients/owners.ts';
import { type Catalogs, catalogs, type OwnerTeams, ownerTeams } from './store/catalog.ts';
import { type FieldDefinitions, fieldDefinitions } from './store/field-definitions.ts';
import { type ReplicaOwner, replicaStore, type ReplicaVersion } from './store/replica-store.ts';
import { pullReplica } from './pull-replica.ts';
import { Retry } from '../shared/domain/retry.ts';

/** A workspace with its version at the gateway, as the request carries it. */
type VersionedWorkspace = Pick<WorkspaceContext, 'id' | 'version'>;

/** What is known about the version of a replica. */
interface ReplicaState {
  /** The replica is complete up to this version; `undefined` if the announced versions cannot be read. */
  version: number | undefined;
  /** Whether the owner was called within this request, so that a refusal by the replica is final. */
  confirmed: boolean;
}

/** The states of replicas. A replica that may be stale and whose owner is unavailable is missing. */
export type Freshness = ReadonlyMap<ReplicaOwner, ReplicaState>;

/** Refreshes replicas before a request is checked against them, and keeps what many requests read of them. */
export interface Replicas {
  readonly fields: FieldDefinitions;
  readonly catalogs: Catalogs;
  readonly ownerTeams: OwnerTeams;
  /**
   * Afterwards the replicas contain every change that these owners confirmed to a client before this call. If an owner is
   * unavailable, its replica stays as it is; if there is more to fetch than fits into the time of a request, that goes on in
   * the background. Both replicas may be stale: a stale replica never stops an incident.
   */
  refresh(workspace: VersionedWorkspace, ...owners: ReplicaOwner[]): Promise<Freshness>;
  /** Calls the owner of a replica that has refused something, so that it may refuse that, or is missing. */
  confirm(workspace: VersionedWorkspace, freshness: Freshness, owner: ReplicaOwner): Promise<Freshness>;
}

/**
 * Checks a request against an owner's replica; use it within `withRetries`. A stale replica may allow a request, but it
 * must not refuse one: a change that it does not have yet may make the request valid.
 * @throws DomainError `service_unavailable` instead of a refusal if the replica may be stale
 */
export function checkByReplica<Result>(freshness: Freshness, owner: ReplicaOwner, check: () => Result): Result {
  const refuse = (error: unknown): never => {
    if (!(error instanceof DomainError)) throw error;
    const state = freshness.get(owner);
    if (state === undefined) throw serviceUnavailable('The references of the request cannot be checked at the moment');
    if (!state.confirmed) throw new Retry(owner);
    throw error;
  };
  try {
    const result = check();
    return result instanceof Promise ? (result.catch(refuse) as Result) : result;
  } catch (error) {
    return refuse(error);
  }
}

const VERSION_NAMES = { catalog: 'catalog', custom_field: 'custom_field' } as const;

/** The version that each owner has announced; `undefined` if it is unknown and the owner has to be called. */
async function readAnnouncedVersions(
  versions: Versions,
  workspace: VersionedWorkspace,
  requested: readonly ReplicaOwner[],
): Promise<Map<ReplicaOwner, number | undefined>> {
  const shared = requested.filter((owner) => owner !== 'users');
  const announced =
    shared.length === 0
      ? []
      : await versions.read(
          shared.map((owner) => VERSION_NAMES[owner]),
          workspace.id,
        );
  return new Map<ReplicaOwner, number | undefined>([
    ['users', workspace.version],
    ...shared.map((owner, index) => [owner, announced[index]] as const),
  ]);
}

const isBehind = (current: ReplicaVersion, version: number | undefined, workspace: VersionedWorkspace) =>
  current.position !== null || current.version !== version || current.workspaceVersion < workspace.version;

const keyOf = (workspace: VersionedWorkspace, owner: ReplicaOwner) => `${workspace.id} ${owner}`;

export function replicas(options: {
  database: Knex;
  versions: Versions;
  owners: Owners;
  pulls: ReplicaPulls;
  log: Logger;
}): Replicas {
  const { database, versions, owners, pulls, log } = options;
  // Versions only rise, so a cached version stays valid even if another process writes the replica.
  const cache = boundedCache<string, ReplicaVersion>({ bytes: 4 * 1_048_576 });

  /**
   * Fetches the changes since the replica's version from its owner. Returns `undefined` if the owner is unavailable, or if the
   * replica is not complete within the time of a request.
   */
  const fetchChanges = async (
    workspace: VersionedWorkspace,
    owner: ReplicaOwner,
  ): Promise<ReplicaState | undefined> => {
    const key = keyOf(workspace, owner);
    const refreshed = await pulls.run({
      key,
      pull: async (signal) => pullReplica({ database, owners, owner, workspace, signal }),
    });
    if (refreshed?.position !== null) return undefined;
    cache.set(key, refreshed);
    return { version: refreshed.version, confirmed: true };
  };

  const stateOf = async (
    workspace: VersionedWorkspace,
    owner: ReplicaOwner,
    version: number | undefined,
  ): Promise<ReplicaState | undefined> => {
    const cached = cache.get(keyOf(workspace, owner));
    if (cached !== undefined && !isBehind(cached, version, workspace)) {
      return { version: cached.version, confirmed: false };
    }
    const stored = await replicaStore(database, workspace.id).findVersion(owner);
    if (stored === undefined || isBehind(stored, version, workspace)) return fetchChanges(workspace, owner);
    cache.set(keyOf(workspace, owner), stored);
    return { version: stored.version, confirmed: false };
  };

  const refresh = async (workspace: VersionedWorkspace, ...requested: ReplicaOwner[]): Promise<Freshness> => {
    let announced: Map<ReplicaOwner, number | undefined>;
    try {
      announced = await readAnnouncedVersions(versions, workspace, requested);
    } catch (error) {
      log.warn({ err: error }, 'cannot read the announced versions; the replicas stay as they are');
      return new Map(requested.map((owner) => [owner, { version: undefined, confirmed: false }]));
    }
    const states = await Promise.all(
      requested.map(async (owner) => [owner, await stateOf(workspace, owner, announced.get(owner))] as const),
    );
    return toFreshness(states);
  };

  return {
    fields: fieldDefinitions(database),
    catalogs: catalogs(database),
    ownerTeams: ownerTeams(database),
    refresh,
    async confirm(workspace, freshness, owner) {
      const state = (await fetchChanges(workspace, owner)) ?? confirmAnnounced(freshness.get(owner));
      return toFreshness([...freshness, [owner, state]]);
    },
  };
}

/** If the owner is unavailable, a replica that has every announced change may still refuse: that is nearly always right. */
const confirmAnnounced = (state: ReplicaState | undefined): ReplicaState | undefined =>
  state?.version === undefined ? undefined : { ...state, confirmed: true };

const toFreshness = (states: readonly (readonly [ReplicaOwner, ReplicaState | undefined])[]): Freshness => {
  const freshness = new Map<ReplicaOwner, ReplicaState>();
  for (const [owner, state] of states) {
    if (state === undefined) freshness.delete(owner);
    else freshness.set(owner, state);
  }
  return freshness;
};
