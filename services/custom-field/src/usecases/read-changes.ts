import type { CustomFieldChangePage } from '@tocsin/contracts';
import { raiseVersion } from '@tocsin/resources';
import { type ChangesFrom, readChangePage, versionStore } from '@tocsin/postgres';
import { definitionSnapshot } from '../domain/snapshot.ts';
import { fieldStore } from '../store/field-store.ts';
import type { Dependencies } from './context.ts';

/** Returns a page of the definitions of a workspace that changed. */
export async function readFieldChangePage(
  dependencies: Pick<Dependencies, 'database' | 'owner' | 'versions' | 'log'>,
  from: ChangesFrom,
): Promise<CustomFieldChangePage> {
  const { database } = dependencies;
  const { workspaceId } = from;
  const page = await readChangePage(database, {
    from,
    current: async () => versionStore(database, workspaceId).current(),
    sources: [
      {
        table: 'definitions',
        read: async (ids) =>
          (await fieldStore(database, workspaceId).listByIds(ids)).map((field) => ({
            id: field.id,
            change: { field: definitionSnapshot(field) },
          })),
      },
    ],
  });
  if (page.next === null) await raiseVersion(dependencies, { workspaceId, version: page.version });
  return page;
}
