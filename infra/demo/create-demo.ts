import { DomainError, SCOPES } from '@tocsin/http';
import { type Environment, systemClock } from '@tocsin/runtime';
import { administration, openGatewayDatabase } from '../../gateway/src/administration.ts';
import type { DataDir } from '../data-dir.ts';
import { workspaceApi } from './api.ts';
import { addSampleData } from './sample-data.ts';

const WORKSPACE = { slug: 'acme', name: 'Acme' };
const OWNER = {
  workspace: 'acme',
  email: 'demo@acme.example',
  name: 'Demo Owner',
  role: 'owner',
  seat: 'responder',
} as const;

/** What somebody needs to begin. */
export interface Demo {
  baseUrl: string;
  token: string;
  /** A command that creates an incident. */
  curl: string;
  /** Why there is no sample data, or not all of it. */
  fault: string | undefined;
}

/** Makes the demo workspace, once; its token is kept, so that it is the same at every start. */
export async function createDemo(instance: { url: string; env: Environment; dataDir: DataDir }): Promise<Demo> {
  const { url, env, dataDir } = instance;
  const { port } = new URL(url);
  const host = `${WORKSPACE.slug}.${env['BASE_DOMAIN'] ?? 'localhost'}:${port}`;
  const token = await dataDir.secret('demo-token', async () => makeToken(env));
  const fault = await addSampleData(workspaceApi({ baseUrl: url, host, token })).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );
  const baseUrl = `http://${host}`;
  return { baseUrl, token, curl: curlFor(baseUrl, token), fault };
}

async function makeToken(env: Environment): Promise<string> {
  const database = openGatewayDatabase(env);
  const admin = administration(database, systemClock);
  try {
    // Where an earlier start was interrupted, some of it is there.
    await admin.createWorkspace(WORKSPACE).catch(unlessExisting);
    await admin.createUser(OWNER).catch(unlessExisting);
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

function unlessExisting(error: unknown): void {
  if (!(error instanceof DomainError) || error.status !== 409) throw error;
}

const curlFor = (baseUrl: string, token: string) =>
  [
    `curl -sS ${baseUrl}/api/v1/incidents \\`,
    `  -H 'Authorization: Bearer ${token}' \\`,
    `  -H 'Content-Type: application/json' -H 'Idempotency-Key: first-incident' \\`,
    `  -d '{"title": "Checkout is down", "service": "checkout", "severity": "sev1"}'`,
  ].join('\n');
