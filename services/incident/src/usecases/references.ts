import { isDeepStrictEqual } from 'node:util';
import { invalid, type WorkspaceContext } from '@tocsin/http';
import type { Knex } from '@tocsin/runtime';
import type { IncidentProperties } from '../domain/incident.ts';
import { replicaStore } from '../store/replica-store.ts';
import { judge, type Standing } from './replicas.ts';

const REFERENCES = ['teamId', 'incidentManager', 'incidentResponders'] as const;

type Referring = Partial<Pick<IncidentProperties, (typeof REFERENCES)[number]>>;

/** Those that are not what they were: what stays is not judged again, though a team or user may have gone since. */
export const newReferences = (before: Referring, said: Referring): Referring =>
  Object.fromEntries(
    REFERENCES.filter((name) => said[name] !== undefined && !isDeepStrictEqual(said[name], before[name])).map(
      (name) => [name, said[name]],
    ),
  );

/** Whether judging these properties takes the users' replica. */
export const namesUsers = ({ incidentManager, incidentResponders }: Referring) =>
  (incidentManager ?? '') !== '' || (incidentResponders ?? []).length > 0;

/**
 * Checks what an incident refers to: a team must be active, a manager or responder an active user of the workspace.
 * @throws DomainError `invalid_request` naming the property; `service_unavailable` where the replica may be late
 */
export async function checkReferences(
  db: Knex,
  references: { workspace: WorkspaceContext; properties: Referring; standing: Standing },
): Promise<void> {
  const { workspace, properties, standing } = references;
  const store = replicaStore(db, workspace.id);
  await judge(standing, 'catalog', async () => checkTeam(store, properties));
  await judge(standing, 'users', async () => checkUsers(store, properties));
}

type ReplicaStore = ReturnType<typeof replicaStore>;

async function checkTeam(store: ReplicaStore, { teamId }: Referring): Promise<void> {
  if (typeof teamId === 'number' && !(await store.isActiveTeam(teamId))) {
    throw invalid('team_id', 'Must be an active team');
  }
}

async function checkUsers(store: ReplicaStore, properties: Referring): Promise<void> {
  if (!namesUsers(properties)) return;
  const { incidentManager = '', incidentResponders = [] } = properties;
  const named = [...(incidentManager === '' ? [] : [incidentManager]), ...incidentResponders];
  const active = await store.activeUsers(named.map(Number));
  const isActive = (id: string) => active.has(Number(id));
  if (incidentManager !== '' && !isActive(incidentManager)) {
    throw invalid('incident_manager', 'Must be an active user of the workspace');
  }
  const stranger = incidentResponders.findIndex((id) => !isActive(id));
  if (stranger !== -1) throw invalid(`incident_responders.${stranger}`, 'Must be an active user of the workspace');
}
