import { DomainError, SCOPES } from '@tocsin/http';
import { type Environment, systemClock } from '@tocsin/runtime';
import { administration, openGatewayDatabase } from '../../gateway/src/administration.ts';
import type { DataDir } from '../data-dir.ts';
import { workspaceApi } from './api.ts';
import { DEMO_WORKSPACE } from './default-workspace.ts';
import { addSampleData } from './sample-data.ts';

const WORKSPACE = { slug: DEMO_WORKSPACE, name: 'Acme' };
const OWNER = {
  workspace: DEMO_WORKSPACE,
  email: 'demo@acme.example',
  name: 'Demo Owner',
  role: 'owner',
  seat: 'responder',
} as const;

/** What a new user needs to begin. */
export interface Demo {
  baseUrl: string;
  token: string;
  /** A command that creates an incident. */
  curl: string;
  /** Why sample data is missing, if it is. */
  error: string | undefined;
}

/** Creates the demo workspace once. Its token is kept in the data folder, so it is the same at every start. */
export async function createDemo(instance: { url: string; env: Environment; dataDir: DataDir }): Promise<Demo> {
  const { url, env, dataDir } = instance;
  const { port } = new URL(url);
  const host = `${WORKSPACE.slug}.${env['BASE_DOMAIN'] ?? 'localhost'}:${port}`;
  const token = await dataDir.secret('demo-token', async () => createToken(env));
  const error = await addSampleData(workspaceApi({ baseUrl: url, host, token })).then(
    () => undefined,
    (reason: unknown) => (reason as Error).message,
  );
  // A host that resolves everywhere, where the gateway takes it for the workspace's.
  const baseUrl = env['DEFAULT_WORKSPACE'] === DEMO_WORKSPACE ? url : `http://${host}`;
  return { baseUrl, token, curl: curlFor(baseUrl, token), error };
}

async function createToken(env: Environment): Promise<string> {
  const database = openGatewayDatabase(env);
  const admin = administration(database, systemClock);
  try {
    // An earlier start may have been interrupted.
    await admin.createWorkspace(WORKSPACE).catch(ignoreConflict);
    await admin.createUser(OWNER).catch(ignoreConflict);
    const { token } = await admin.createKey({
      workspace: WORKSPACE.slug,
      user: OWNER.email,
      name: 'demo',
      scopes: SCOPES,
    });
    return token;
  } finally {
    await database.destroy();
  }
}

function ignoreConflict(error: unknown): void {
  if (!(error instanceof DomainError) || error.status !== 409) throw error;
}

const curlFor = (baseUrl: string, token: string) =>
  [
    `curl -sS ${baseUrl}/api/v1/incidents \\`,
    `  -H 'Authorization: Bearer ${token}' \\`,
    `  -H 'Content-Type: application/json' -H 'Idempotency-Key: first-incident' \\`,
    `  -d '{"title": "Checkout is down", "service": "checkout", "severity": "sev1"}'`,
  ].join('\n');
