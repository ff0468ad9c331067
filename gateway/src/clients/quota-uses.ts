import { INTERNAL_PATHS, type QuotaUse, quotaUse } from '@tocsin/contracts';
import type { ServicesClient } from './services-client.ts';

/**
 * Asks the services that enforce quotas how much of them a workspace uses: by the names of the quotas, without those of a
 * service that does not answer in time.
 */
export async function readQuotaUses(
  services: Pick<ServicesClient, 'ask'>,
  workspaceId: number,
): Promise<QuotaUse['used']> {
  const { answers } = await services.ask({
    services: ['incident', 'catalog', 'custom-field'],
    path: INTERNAL_PATHS.quotaUse,
    query: { workspace_id: workspaceId },
    answer: quotaUse,
  });
  return Object.assign({}, ...answers.map(({ used }) => used)) as QuotaUse['used'];
}
