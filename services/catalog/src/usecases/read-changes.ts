import type { CatalogChanges } from '@tocsin/contracts';
import { raiseVersion } from '@tocsin/resources';
import { versionStore } from '@tocsin/runtime';
import { serviceSnapshot, teamSnapshot } from '../domain/snapshots.ts';
import { configurationStore } from '../store/configuration-store.ts';
import { serviceStore } from '../store/service-store.ts';
import { teamStore } from '../store/team-store.ts';
import type { Dependencies } from './context.ts';

/** Returns what changed in a workspace's catalog after version `since`, and the version that a replica reaches with it. */
export async function readChanges(
  dependencies: Dependencies,
  { workspaceId, since }: { workspaceId: number; since: number },
): Promise<CatalogChanges> {
  const { database } = dependencies;
  // The version before the rows: a change that commits in between is returned again next time, and none is missed.
  const version = await versionStore(database, workspaceId).current();
  const [teams, services, tiers] = await Promise.all([
    teamStore(database, workspaceId).changedSince(since),
    serviceStore(database, workspaceId).changedSince(since),
    configurationStore(database, workspaceId).tiers(),
  ]);
  await raiseVersion(dependencies, { workspaceId, version });
  return {
    version,
    teams: teams.map(teamSnapshot),
    services: services.map(serviceSnapshot),
    tiers: tiers.map(({ key, label, order, isDefault }) => ({ key, label, order, is_default: isDefault })),
  };
}
