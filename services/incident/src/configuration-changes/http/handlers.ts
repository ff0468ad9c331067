import { COST_HEADER, invalidRequest } from '@tocsin/http';
import { listsView } from '../../configuration/domain/configuration-document.ts';
import { readConfigurationPart } from '../../configuration/domain/configuration-part.ts';
import type { StoredConfiguration } from '../read-configuration.ts';
import { type ConfigurationDependencies, getConfiguration, replaceConfiguration } from '../replace-configuration.ts';
import type { ConfigurationChangeApi } from './contracts.ts';

export const configurationChangeHandlers = (dependencies: ConfigurationDependencies): ConfigurationChangeApi => ({
  getConfiguration: async ({ principal }) => reply(await getConfiguration(dependencies, principal.workspace.id)),

  replaceConfiguration: async ({ principal, requestId, expectedRevision, body }) => {
    const { revision = expectedRevision, replace = {}, ...lists } = body;
    if (revision !== expectedRevision) {
      throw invalidRequest('revision', 'Must be the revision in If-Service-Resource-Version');
    }
    const part = readConfigurationPart(lists);
    const command = { principal, requestId, expectedRevision, part, replace };
    const changed = await replaceConfiguration(dependencies, command);
    const assigned = changed.newGroups.map((place) => `configuration.timeline_groups.${place}.id`);
    return { ...reply(changed), assigned, headers: { [COST_HEADER]: String(changed.incidents) } };
  },
});

/** The version counts from 0, as it did before the configuration was a resource. */
const reply = ({ lists, version }: Pick<StoredConfiguration, 'lists' | 'version'>) => ({
  body: { configuration: { revision: version + 1, ...listsView(lists) } },
  revision: version + 1,
});
