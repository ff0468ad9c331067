import type { CatalogChanges } from '@tocsin/contracts';
import { versionStore } from '@tocsin/runtime';
import { serviceSnapshot, teamSnapshot } from '../domain/snapshots.ts';
import { configurationStore } from '../store/configuration-store.ts';
import { serviceStore } from '../store/service-store.ts';
import { teamStore } from '../store/team-store.ts';
import { announceVersion } from './announce-version.ts';
import type { Tools } from './context.ts';

/** What changed in a workspace's catalog after version `since`, and the version that a replica then stands at. */
export async function readChanges(
  tools: Tools,
  { workspaceId, since }: { workspaceId: number; since: number },
): Promise<CatalogChanges> {
  const { database } = tools;
  // The version first: a change that commits while the rest is read is then told again, and none is missed.
  const version = await versionStore(database, workspaceId).current();
  const [teams, services, tiers] = await Promise.all([
    teamStore(database, workspaceId).changedSince(since),
    serviceStore(database, workspaceId).changedSince(since),
    configurationStore(database, workspaceId).tiers(),
  ]);
  await announceVersion(tools, { workspaceId, version });
  return {
    version,
    teams: teams.map(teamSnapshot),
    services: services.map(serviceSnapshot),
    tiers: tiers.map(({ key, label, order, isDefault }) => ({ key, label, order, is_default: isDefault })),
  };
}
