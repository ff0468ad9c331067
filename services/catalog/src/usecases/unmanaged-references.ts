import type { UnmanagedReferences, WorkspaceContext } from '@tocsin/schemas';
import { serviceStore } from '../store/service-store.ts';
import type { Dependencies } from './context.ts';

/**
 * Lists the values that incidents name as their service although the catalog has no such service (contract: Catalog), the most
 * frequent first. If the incident service cannot be reached, the list is empty and marked as truncated.
 */
export async function findUnmanagedReferences(
  dependencies: Dependencies,
  workspace: WorkspaceContext,
): Promise<UnmanagedReferences> {
  const { internalServices, database, log } = dependencies;
  let response: UnmanagedReferences;
  try {
    response = await internalServices.unmanagedReferences(workspace.id);
  } catch (error) {
    log.warn({ err: error, workspace: workspace.id }, 'cannot get unmanaged references from the incident service');
    return { references: [], truncated: true };
  }
  // The incident service's replica of the catalog may lack a service that was created a moment ago.
  const slugs = await serviceStore(database, workspace.id).findSlugs(response.references.map(({ value }) => value));
  return { ...response, references: response.references.filter(({ value }) => !slugs.has(value)) };
}
