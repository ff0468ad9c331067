import { DomainError, serviceUnavailable } from '@tocsin/http';
import { brokenConstraint } from '@tocsin/postgres';
import type { Dependencies } from '../dependencies.ts';
import type { Incident } from './domain/incident.ts';
import { EXTERNAL_ID_INDEX, incidentStore } from './store/incident-store.ts';

/** Attempts of a write whose external ID is taken when it writes, and free a moment later. */
const MAX_ATTEMPTS = 3;

/**
 * Runs a write of an incident. An index decides whether the external ID is free, also between concurrent writes.
 * @throws DomainError `invalid_resource_state` with the ID of the incident that has the external ID
 */
export async function withFreeExternalId<Result>(
  { database }: Pick<Dependencies, 'database'>,
  options: {
    /** With the external ID that is written, if one is. */
    incident: Pick<Incident, 'workspaceId'> & Partial<Pick<Incident, 'externalId'>>;
    write: () => Promise<Result>;
  },
): Promise<Result> {
  const { incident, write } = options;
  const { workspaceId, externalId } = incident;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (brokenConstraint(error) !== EXTERNAL_ID_INDEX || typeof externalId !== 'string') throw error;
      const existing = await incidentStore(database, workspaceId).findByExternalId(externalId);
      if (existing !== undefined) {
        throw new DomainError('invalid_resource_state', `Another incident has the external ID ${externalId}`, {
          field: 'external_id',
          details: { existing_id: existing.id },
        });
      }
    }
  }
  throw serviceUnavailable('The external ID is changing; try again');
}
