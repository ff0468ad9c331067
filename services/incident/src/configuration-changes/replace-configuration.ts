import { serviceUnavailable } from '@tocsin/http';
import { changeBy } from '@tocsin/messaging';
import type { Caller } from '@tocsin/versioned-resources';
import type { ConfigurationPart } from '../configuration/domain/configuration-part.ts';
import { configurationChanges } from '../configuration/store/configuration-changes.ts';
import { unannouncedConfigurations } from '../configuration/store/unannounced-configurations.ts';
import { authorOf } from '../incidents/save-incident.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import type { ConfigurationAnnouncements } from './announcements.ts';
import { type ChangedConfiguration, changeConfiguration } from './change-configuration.ts';
import type { Owners } from '../replicas/clients/owners.ts';
import type { Replacements } from './domain/replacements.ts';
import { readWholeConfiguration, type StoredConfiguration, type TierOwner } from './read-configuration.ts';

export interface ConfigurationDependencies extends CommandDependencies {
  owners: Pick<Owners, 'readTiers' | 'prepareTiers'>;
  announcements: Pick<ConfigurationAnnouncements, 'announce'>;
}

export interface ReplaceConfigurationCommand extends Caller {
  expectedRevision: number;
  part: ConfigurationPart;
  replace: Replacements;
}

/** Incidents that one request changes: it keeps creates and changes of status waiting. */
const MAX_INCIDENTS = 10_000;

/** @throws DomainError `service_unavailable` while the catalog, which has the service tiers, cannot be reached */
export async function getConfiguration(
  dependencies: Pick<ConfigurationDependencies, 'database' | 'owners'>,
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
  dependencies: ConfigurationDependencies,
  command: ReplaceConfigurationCommand,
): Promise<ChangedConfiguration> {
  const { principal, part, replace, expectedRevision } = command;
  const { workspace } = principal;
  const tiers = tierOwner(dependencies, workspace.id);
  const changed = await runCommand(dependencies, {
    workspace,
    prepares: async () => {
      // First: a dry run must not hold a new counter during the call.
      const tierState = await tiers.read();
      await configurationChanges(dependencies.database, workspace.id).createCounter();
      return tierState;
    },
    // `changeConfiguration` reads and decides, for the administration command, too.
    decides: (_, { prepared: tierState, now }) => ({
      stores: async (trx) => {
        const request = { expectedRevision, replace, author: authorOf(command), maxIncidents: MAX_INCIDENTS };
        const result = await changeConfiguration(trx, { by: changeBy(command), part, tiers, tierState, now, request });
        const { isChanged, version } = result;
        if (isChanged) await unannouncedConfigurations(trx).add({ workspaceId: workspace.id, version });
        return result;
      },
    }),
  });
  const { isChanged, version } = changed;
  if (isChanged) await dependencies.announcements.announce({ workspaceId: workspace.id, version });
  return changed;
}

/** The service tiers of a workspace; while the catalog cannot be reached, `service_unavailable`. */
export function tierOwner({ owners }: Pick<ConfigurationDependencies, 'owners'>, workspaceId: number): TierOwner {
  const call = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (cause) {
      throw serviceUnavailable('The catalog, which has the service tiers, cannot be reached; try again', { cause });
    }
  };
  return {
    read: async () => call(async () => owners.readTiers(workspaceId)),
    prepare: async (list) => call(async () => owners.prepareTiers({ ...list, workspace_id: workspaceId })),
  };
}
