import { DomainError, unavailable, type WorkspaceContext } from '@tocsin/http';
import type { Knex, Logger, Versions } from '@tocsin/runtime';
import { LRUCache } from 'lru-cache';
import type { Owners } from '../clients/owners.ts';
import { type ReplicaOwner, replicaStore, type ReplicaVersion } from '../store/replica-store.ts';

/** A workspace, and the gateway's version of it that the request was made with. */
export type VersionedWorkspace = Pick<WorkspaceContext, 'id' | 'version'>;

/** The version at which each replica surely stands; one that may be late has none. */
export type Standing = ReadonlyMap<ReplicaOwner, number>;

/** Brings replicas up to date before something is judged by them. */
export interface Replicas {
  /**
   * After it, what these owners answered their clients before this call is in the replicas. An owner that cannot be
   * reached leaves its replica as it stands: late news never stops an incident.
   */
  refresh(workspace: VersionedWorkspace, ...owners: ReplicaOwner[]): Promise<Standing>;
}

/**
 * Judges a request by an owner's replica. What a late replica allows, goes; what it refuses may be right by news that are still
 * to come, and nobody is told that something is not there by one who may not know of it yet.
 * @throws DomainError `service_unavailable` in place of a refusal, where the replica may be late
 */
export async function judge<Verdict>(
  standing: Standing,
  owner: ReplicaOwner,
  rule: () => Promise<Verdict> | Verdict,
): Promise<Verdict> {
  try {
    return await rule();
  } catch (error) {
    if (!(error instanceof DomainError) || standing.has(owner)) throw error;
    throw unavailable('What the request refers to cannot be checked just now');
  }
}

const VERSIONED = { catalog: 'catalog', custom_field: 'custom_field' } as const;

export function replicas(options: { database: Knex; versions: Versions; owners: Owners; log: Logger }): Replicas {
  const { database, versions, owners, log } = options;
  // Versions only rise, so what was once reached here stays reached, whichever process reached it.
  const reached = new LRUCache<string, ReplicaVersion>({ max: 10_000 });

  /** What each owner has announced; `undefined` when that is unknown and the owner has to be asked. */
  const announced = async (workspace: VersionedWorkspace, wanted: readonly ReplicaOwner[]) => {
    const shared = wanted.filter((owner) => owner !== 'users');
    const known =
      shared.length === 0
        ? []
        : await versions.read(
            shared.map((owner) => VERSIONED[owner]),
            workspace.id,
          );
    return new Map<ReplicaOwner, number | undefined>([
      ['users', workspace.version],
      ...shared.map((owner, index) => [owner, known[index]] as const),
    ]);
  };

  const isBehind = (here: ReplicaVersion, version: number | undefined, workspace: VersionedWorkspace) =>
    here.version !== version || here.workspaceVersion < workspace.version;

  return {
    async refresh(workspace, ...wanted) {
      let current: Map<ReplicaOwner, number | undefined>;
      try {
        current = await announced(workspace, wanted);
      } catch (error) {
        log.warn({ err: error }, 'the versions cannot be read, the replicas stay as they are');
        return new Map();
      }
      const standing = new Map<ReplicaOwner, number>();
      await Promise.all(
        wanted.map(async (owner) => {
          const key = `${workspace.id} ${owner}`;
          const version = current.get(owner);
          const stand = (here: ReplicaVersion) => {
            reached.set(key, here);
            standing.set(owner, here.version);
          };
          const before = reached.get(key);
          if (before !== undefined && !isBehind(before, version, workspace)) {
            stand(before);
            return;
          }
          const here = await replicaStore(database, workspace.id).findVersion(owner);
          if (here === undefined || isBehind(here, version, workspace)) {
            try {
              stand(await pull({ database, owners, owner, workspace, since: here?.version ?? 0 }));
            } catch (error) {
              log.warn(
                { err: error, owner, workspace: workspace.id },
                'an owner cannot be asked, its replica stays as it is',
              );
            }
          } else stand(here);
        }),
      );
      return standing;
    },
  };
}

async function pull(options: {
  database: Knex;
  owners: Owners;
  owner: ReplicaOwner;
  workspace: VersionedWorkspace;
  since: number;
}): Promise<ReplicaVersion> {
  const { database, owners, owner, workspace, since } = options;
  const store = (trx: Knex) => replicaStore(trx, workspace.id);
  const apply = async (version: number, write: (trx: Knex.Transaction) => Promise<void>): Promise<ReplicaVersion> => {
    const to = { version, workspaceVersion: workspace.version };
    await database.transaction(async (trx) => {
      // First of all: it serializes pulls of the same workspace, and none of them waits for another's network call.
      await store(trx).advance(owner, to);
      await write(trx);
    });
    return to;
  };
  if (owner === 'users') {
    const { version, users } = await owners.users(workspace.id, since);
    return apply(version, async (trx) => store(trx).putUsers(version, users));
  }
  if (owner === 'custom_field') {
    const { version, fields } = await owners.customFields(workspace.id, since);
    return apply(version, async (trx) => store(trx).putFields(version, fields));
  }
  const { version, teams, services, tiers } = await owners.catalog(workspace.id, since);
  return apply(version, async (trx) => {
    await store(trx).putTeams(version, teams);
    await store(trx).putServices(version, services);
    await store(trx).replaceTiers(tiers);
  });
}
