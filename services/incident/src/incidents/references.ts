import { isDeepStrictEqual } from 'node:util';
import type { WorkspaceContext } from '@tocsin/contracts';
import { invalidRequest } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { IncidentProperties } from './domain/incident.ts';
import { replicaStore } from '../replicas/store/replica-store.ts';
import { checkByReplica, type Freshness } from '../replicas/replicas.ts';

const REFERENCES = ['teamId', 'incidentManager', 'incidentResponders'] as const;

type References = Partial<Pick<IncidentProperties, (typeof REFERENCES)[number]>>;

/** Returns the references that change. Unchanged ones are not checked again, even if the team or user is no longer active. */
export const changedReferences = (before: References, changes: References): References =>
  Object.fromEntries(
    REFERENCES.filter((name) => changes[name] !== undefined && !isDeepStrictEqual(changes[name], before[name])).map(
      (name) => [name, changes[name]],
    ),
  );

/** Whether checking these properties needs the users' replica. */
export const refersToUsers = ({ incidentManager, incidentResponders }: References) =>
  (incidentManager ?? '') !== '' || (incidentResponders ?? []).length > 0;

/**
 * Checks an incident's references: the team must be active; manager and responders must be active users of the workspace.
 * @throws DomainError `invalid_request` naming the property; `service_unavailable` if the replica may be stale
 */
export async function checkReferences(
  db: Knex,
  references: { workspace: WorkspaceContext; properties: References; freshness: Freshness },
): Promise<void> {
  const { workspace, properties, freshness } = references;
  const store = replicaStore(db, workspace.id);
  await checkByReplica(freshness, 'catalog', async () => checkTeam(store, properties));
  await checkByReplica(freshness, 'users', async () => checkUsers(store, properties));
}

type ReplicaStore = ReturnType<typeof replicaStore>;

async function checkTeam(store: ReplicaStore, { teamId }: References): Promise<void> {
  if (typeof teamId === 'number' && !(await store.isActiveTeam(teamId))) {
    throw invalidRequest('team_id', 'Must be an active team');
  }
}

async function checkUsers(store: ReplicaStore, properties: References): Promise<void> {
  if (!refersToUsers(properties)) return;
  const { incidentManager = '', incidentResponders = [] } = properties;
  const userIds = [...(incidentManager === '' ? [] : [incidentManager]), ...incidentResponders];
  const active = await store.activeUsers(userIds.map(Number));
  const isActive = (id: string) => active.has(Number(id));
  if (incidentManager !== '' && !isActive(incidentManager)) {
    throw invalidRequest('incident_manager', 'Must be an active user of the workspace');
  }
  const unknown = incidentResponders.findIndex((id) => !isActive(id));
  if (unknown !== -1) throw invalidRequest(`incident_responders.${unknown}`, 'Must be an active user of the workspace');
}
