import type { Config } from 'jest';
import { CONNECTIONS_OF_SYSTEMS, findServers } from '../servers/find-servers.ts';

/** Runs once for each project that needs servers. */
export default async function globalSetup(_run: unknown, { displayName }: Config): Promise<void> {
  await findServers(
    typeof displayName === 'object' && displayName.name === 'system' ? CONNECTIONS_OF_SYSTEMS : undefined,
  );
}
