import type { WorkspaceContext } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import type { Configuration } from '../configuration/domain/configuration.ts';
import type { Owners } from '../replicas/clients/owners.ts';
import type { Replicas } from '../replicas/replicas.ts';
import { findActiveUsers } from '../replicas/store/replica-reads.ts';

export interface OnCallLeadDependencies {
  database: Knex;
  owners: Pick<Owners, 'findOnCall'>;
  replicas: Pick<Replicas, 'refresh'>;
}

/**
 * Returns who leads new incidents of teams, because they are on call (contract: Catalog, On call): active users, as text, by
 * the IDs of the teams. Nobody, unless the workspace wants that and the catalog answers: that must not stop an incident.
 */
export async function onCallLeads(
  { database, owners, replicas }: OnCallLeadDependencies,
  options: {
    workspace: WorkspaceContext;
    configuration: Pick<Configuration, 'onCallLead'>;
    teamIds: readonly (number | null)[];
  },
): Promise<ReadonlyMap<number | null, string>> {
  const { workspace, configuration, teamIds } = options;
  const ids = [...new Set(teamIds.flatMap((id) => id ?? []))];
  if (configuration.onCallLead !== 'set' || ids.length === 0) return NOBODY;
  const onCall = await owners.findOnCall(workspace.id, ids).catch(() => NOBODY_ON_CALL);
  if (onCall.size === 0) return NOBODY;
  await replicas.refresh(workspace, 'users');
  const active = await findActiveUsers(database, workspace.id, [...onCall.values()]);
  return new Map([...onCall].filter(([, user]) => active.has(user)).map(([team, user]) => [team, String(user)]));
}

const NOBODY: ReadonlyMap<number | null, string> = new Map();
const NOBODY_ON_CALL: ReadonlyMap<number, number> = new Map();
