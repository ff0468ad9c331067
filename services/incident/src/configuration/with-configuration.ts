import type { WorkspaceContext } from '@tocsin/contracts';
import { serviceUnavailable } from '@tocsin/http';
import type { Configuration } from './domain/configuration.ts';
import { ConfigurationChanged } from './store/configuration-store.ts';
import type { Dependencies } from '../dependencies.ts';

/** Attempts of a command whose configuration changes each time before it can write. */
const MAX_ATTEMPTS = 5;

/**
 * Runs a command with the workspace's configuration, and again with the new one if the configuration changed before the
 * command could write. `work` must have no effect if it throws `ConfigurationChanged`.
 * @throws DomainError `service_unavailable` if the configuration changes at each attempt
 */
export async function withConfiguration<Result>(
  { configurations }: Pick<Dependencies, 'configurations'>,
  workspace: WorkspaceContext,
  work: (configuration: Configuration) => Promise<Result>,
): Promise<Result> {
  let configuration = await configurations.get(workspace);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(configuration);
    } catch (error) {
      if (!(error instanceof ConfigurationChanged)) throw error;
      if (attempt === MAX_ATTEMPTS)
        throw serviceUnavailable('The configuration of the workspace is changing; try again');
      configuration = await configurations.reload(workspace);
    }
  }
}
