import type { Environment } from '@tocsin/runtime';
import pg from 'pg';
import { openGatewayDatabase } from '../../../gateway/src/administration.ts';
import { findInstance } from '../../installation/data-dir.ts';
import { startParts } from '../../embedded/start-parts.ts';
import type { RunningCommand } from './commands.ts';
import type { LocalHarness, Mode } from './local-harness.ts';
import { type Workspace, workspaceFactory } from './workspaces.ts';

/** The apps, with access to their database. */
export interface RunningInstance {
  command: RunningCommand;
  /** The settings by which commands reach it. */
  env: Environment;
  /** As the administrator of its database. */
  databaseUrl: string;
  sql: pg.Client;
  /** Creates a workspace with an API key. */
  createWorkspace(): Promise<Workspace>;
  stop(): Promise<void>;
}

/**
 * Starts the apps of a harness with these settings. Their log lines go to a file of the harness, since there are more
 * than this process could read without slowing them down.
 */
export const startInstance = async (
  harness: LocalHarness,
  settings: Environment,
  mode: Mode = 'services',
): Promise<RunningInstance> =>
  startParts(async (closing, stop) => {
    const command = harness.start(settings, `${harness.folder}/output.log`, mode);
    closing.push(async () => {
      command.signal('SIGTERM');
      await command.ended();
    });
    await command.ready();
    const instance = await findInstance(harness.folder);
    if (instance === undefined) throw new Error('the system did not register');
    const { env } = instance;
    const databaseUrl = env['DATABASE_URL'] ?? '';
    const sql = new pg.Client({ connectionString: databaseUrl });
    await sql.connect();
    closing.push(async () => sql.end());
    const gatewayDatabase = openGatewayDatabase(env);
    closing.push(async () => gatewayDatabase.destroy());
    return { command, env, databaseUrl, sql, createWorkspace: workspaceFactory(gatewayDatabase), stop };
  });
