import type { CatalogChangePage } from '@tocsin/contracts';
import { raiseVersion } from '@tocsin/resources';
import { type ChangesFrom, type ChangeSource, readChangePage, versionStore } from '@tocsin/postgres';
import { serviceSnapshot, teamSnapshot } from '../domain/snapshots.ts';
import { serviceStore } from '../store/service-store.ts';
import { teamStore } from '../store/team-store.ts';
import type { Dependencies } from './context.ts';

type Change = { team: ReturnType<typeof teamSnapshot> } | { service: ReturnType<typeof serviceSnapshot> };

/** Returns a page of what changed in a workspace's catalog, and all its tiers. */
export async function readCatalogChangePage(
  dependencies: Pick<Dependencies, 'database' | 'owner' | 'versions' | 'log' | 'currentTiers'>,
  from: ChangesFrom,
): Promise<CatalogChangePage> {
  const { database } = dependencies;
  const { workspaceId } = from;
  const sources: ChangeSource<Change>[] = [
    {
      table: 'teams',
      read: async (ids) =>
        (await teamStore(database, workspaceId).listByIds(ids)).map((team) => ({
          id: team.id,
          change: { team: teamSnapshot(team) },
        })),
    },
    {
      table: 'services',
      read: async (ids) =>
        (await serviceStore(database, workspaceId).listByIds(ids)).map((service) => ({
          id: service.id,
          change: { service: serviceSnapshot(service) },
        })),
    },
  ];
  const page = await readChangePage(database, {
    from,
    current: async () => versionStore(database, workspaceId).current(),
    sources,
  });
  // After the version was read: the tiers have every change up to it.
  const { tiers } = await dependencies.currentTiers(workspaceId);
  if (page.next === null) await raiseVersion(dependencies, { workspaceId, version: page.version });
  return {
    ...page,
    tiers: tiers.map(({ key, label, order, isDefault }) => ({ key, label, order, is_default: isDefault })),
  };
}
