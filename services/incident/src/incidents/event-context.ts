import type { EventContext, EventContextQuery } from '@tocsin/schemas';
import { type Knex, query } from '@tocsin/postgres';
import { readConfiguration } from '../configuration/store/configuration-store.ts';
import type { Owners } from '../replicas/clients/owners.ts';
import { incidentSnapshot } from './domain/snapshot.ts';
import { incidentStore } from './store/incident-store.ts';

/**
 * Returns what describes events of a workspace: the incidents as they are now, names of people, and the lists that keys are
 * of. Whoever asks decides who may see it.
 * @throws DomainError `service_unavailable` if the gateway does not answer
 */
export async function readEventContext(
  { database, owners }: { database: Knex; owners: Pick<Owners, 'findPeople'> },
  { workspace_id: workspaceId, incident_ids: ids, user_ids: userIds, emails, services: slugs }: EventContextQuery,
): Promise<EventContext> {
  const [incidents, { statuses, severities }, users] = await Promise.all([
    ids.length === 0 ? [] : incidentStore(database, workspaceId).readVersioned(ids),
    readConfiguration(database, workspaceId),
    owners.findPeople(workspaceId, { ids: userIds, emails }),
  ]);
  const services = await query<EventContext['services'][number]>(database, {
    name: 'find-services-of-events',
    text: `select slug, owner_team_id from replica_services
      where workspace_id = $1 and slug = any((select $2::text[])::text[]) and archived_at is null`,
    values: [workspaceId, [...new Set([...slugs, ...incidents.map(({ service }) => service)])]],
  });
  return {
    incidents: incidents.map(incidentSnapshot),
    users,
    statuses: statuses.map(({ key, label, isTerminal }) => ({ key, label, is_terminal: isTerminal })),
    severities: severities.map(({ key, label }) => ({ key, label })),
    services,
  };
}
