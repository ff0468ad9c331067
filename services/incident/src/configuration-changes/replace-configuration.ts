import { serviceUnavailable } from '@tocsin/http';
import { changeBy } from '@tocsin/messaging';
import type { Caller } from '@tocsin/resources';
import type { ConfigurationPart } from '../configuration/domain/configuration-part.ts';
import { configurationChanges } from '../configuration/store/configuration-changes.ts';
import { unannouncedConfigurations } from '../configuration/store/unannounced-configurations.ts';
import type { Dependencies } from '../dependencies.ts';
import { authorOf } from '../incidents/author.ts';
import { type ChangedConfiguration, changeConfiguration } from './change-configuration.ts';
import type { Replacements } from './domain/replacements.ts';
import { readWholeConfiguration, type StoredConfiguration, type TierOwner } from './read-configuration.ts';

export interface ReplaceConfigurationCommand extends Caller {
  expectedRevision: number;
  part: ConfigurationPart;
  replace: Replacements;
}

/** Incidents that one request changes: it keeps creates and changes of status waiting. */
const MAX_INCIDENTS = 10_000;

/** @throws DomainError `service_unavailable` while the catalog, which has the service tiers, cannot be reached */
export async function getConfiguration(
  dependencies: Dependencies,
  workspaceId: number,
): Promise<Pick<StoredConfiguration, 'lists' | 'version'>> {
  return readWholeConfiguration(dependencies.database, workspaceId, tierOwner(dependencies, workspaceId));
}

/**
 * Replaces lists of the workspace's configuration, and the removed statuses and severities of incidents (contract:
 * Configuration).
 * @throws as `changeConfiguration`
 */
export async function replaceConfiguration(
  dependencies: Dependencies,
  command: ReplaceConfigurationCommand,
): Promise<ChangedConfiguration> {
  const { principal, part, replace, expectedRevision } = command;
  const { database } = dependencies;
  const workspaceId = principal.workspace.id;
  const tiers = tierOwner(dependencies, workspaceId);
  // First: a dry run must not hold a new counter during the call.
  const tierState = await tiers.read();
  await configurationChanges(database, workspaceId).createCounter();
  const changed = await database.transaction(async (trx) => {
    const author = authorOf(command);
    const result = await changeConfiguration(trx, {
      by: changeBy(command),
      part,
      tiers,
      tierState,
      now: dependencies.clock.now(),
      request: { expectedRevision, replace, author, maxIncidents: MAX_INCIDENTS },
    });
    if (result.isChanged) await unannouncedConfigurations(trx).add({ workspaceId, version: result.version });
    return result;
  });
  if (changed.isChanged) {
    dependencies.storage.add(workspaceId, { bytes: changed.written });
    dependencies.wakeRelay();
    await dependencies.announcements.announce({ workspaceId, version: changed.version });
  }
  return changed;
}

/** The service tiers of a workspace; while the catalog cannot be reached, `service_unavailable`. */
export function tierOwner({ configurationServices }: Dependencies, workspaceId: number): TierOwner {
  const call = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch {
      throw serviceUnavailable('The catalog, which has the service tiers, cannot be reached; try again');
    }
  };
  return {
    read: async () => call(async () => configurationServices.readTiers(workspaceId)),
    prepare: async (list) =>
      call(async () => configurationServices.prepareTiers({ ...list, workspace_id: workspaceId })),
  };
}
