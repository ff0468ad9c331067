import { type IdempotencyKeyUse, idempotencyKeyUses, INTERNAL_PATHS } from '@tocsin/schemas';
import type { KeyLookup } from '@tocsin/http';
import type { ServicesClient } from '../../upstreams/clients/services-client.ts';

/**
 * Asks the services with creates that accept a key what a user has done with one. `missing` has those that did not answer
 * in time.
 */
export async function findKeyUses(
  services: Pick<ServicesClient, 'ask'>,
  { workspaceId, userId, key }: KeyLookup,
): Promise<{ uses: IdempotencyKeyUse[]; missing: string[] }> {
  const { answers, missing } = await services.ask({
    services: ['incident', 'catalog'],
    path: INTERNAL_PATHS.idempotencyKeys,
    query: { workspace_id: workspaceId, user_id: userId, key },
    answer: idempotencyKeyUses,
  });
  return { uses: answers.flatMap(({ uses }) => uses), missing };
}
