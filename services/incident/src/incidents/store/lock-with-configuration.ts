import { type Knex, runPipeline } from '@tocsin/postgres';
import type { Configuration } from '../../configuration/domain/configuration.ts';
import type { Incident } from '../domain/incident.ts';
import { checkLocked, lockConfiguration } from '../../configuration/store/configuration-store.ts';
import { lockIncident, requireIncident } from './incident-store.ts';

/**
 * Locks an incident in one round trip, after the configuration that its status and severity are checked against.
 * @throws ConfigurationChanged if the stored configuration has another version
 * @throws DomainError `not_found`
 */
export async function lockWithConfiguration(
  trx: Knex.Transaction,
  { workspaceId, id, configuration }: { workspaceId: number; id: number; configuration: Configuration },
): Promise<Incident> {
  const [locked, incidents] = await runPipeline(trx, [lockConfiguration(workspaceId), lockIncident(workspaceId, id)]);
  checkLocked(locked, configuration);
  return requireIncident(incidents);
}
