/**
 * `idempotency-keys` is the look-up of an Idempotency-Key by a client that did not get its response (contract:
 * Idempotency). It asks the gateway's own table, the incident service and the catalog at the same time what the caller
 * has done with the key, and answers with the latest use. It writes and locks nothing: the rows are those that creates
 * commit with their outcome, and a create that is still running shows by the lock that it holds. 404 promises that the
 * key is unused; so if a service does not answer and no other one has the key, the response is 503. What was claimed by
 * a process that died is unused again, or its outcome is unknown.
 */
import { DomainError, type keyLookup, notFound, serviceUnavailable } from '@tocsin/http';
import { findKeyUses } from '../clients/key-lookups.ts';
import type { ServicesClient } from '../../upstreams/clients/services-client.ts';
import type { IdempotencyKeyApi } from './contracts.ts';

export const idempotencyKeyHandlers = ({
  ownKeys,
  services,
}: {
  ownKeys: ReturnType<typeof keyLookup>;
  services: Pick<ServicesClient, 'ask'>;
}): IdempotencyKeyApi => ({
  getIdempotencyKey: async ({ principal, params: { key }, query: { operation } }) => {
    const lookup = { workspaceId: principal.workspace.id, userId: principal.user_id, key };
    const [gatewayUses, { uses, missing }] = await Promise.all([ownKeys(lookup), findKeyUses(services, lookup)]);
    const [latest] = [...gatewayUses, ...uses]
      .filter((use) => operation === undefined || use.operation === operation)
      .sort((one, other) => (one.created_at < other.created_at ? 1 : -1));
    if (latest === undefined && missing.length > 0) {
      throw serviceUnavailable(`The ${missing.join(' and the ')} service cannot be asked now; try again`);
    }
    if (latest === undefined) throw notFound('The idempotency key');
    const { state, ...use } = latest;
    if (state === 'unknown') {
      throw new DomainError(
        'idempotency_outcome_unknown',
        'The outcome of the request with this key is unknown; read the resource before you retry',
      );
    }
    return { body: { idempotency_key: { key, state, ...use } } };
  },
});
