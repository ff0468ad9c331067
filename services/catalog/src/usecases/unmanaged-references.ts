import type { UnmanagedReferences } from '@tocsin/contracts';
import type { WorkspaceContext } from '@tocsin/http';
import { serviceStore } from '../store/service-store.ts';
import type { Tools } from './context.ts';

/**
 * What incidents name as their service without its being in the catalog (contract: Catalog), most named first. While the
 * incident service cannot be asked the list is empty and says that it is not whole.
 */
export async function findUnmanagedReferences(tools: Tools, workspace: WorkspaceContext): Promise<UnmanagedReferences> {
  const { neighbours, database, log } = tools;
  let told: UnmanagedReferences;
  try {
    told = await neighbours.unmanagedReferences(workspace.id);
  } catch (error) {
    log.warn({ err: error, workspace: workspace.id }, 'the incident service cannot be asked for its references');
    return { references: [], truncated: true };
  }
  // Its copy of the catalog may be behind by a service; this is the catalog.
  const known = await serviceStore(database, workspace.id).slugsAmong(told.references.map(({ value }) => value));
  return { ...told, references: told.references.filter(({ value }) => !known.has(value)) };
}
