/**
 * `demo` gives a new installation a workspace that has something of everything. This file creates it with its owner and
 * a key, whose token the data folder keeps, so that it is the same at every start; whoever has revoked the key gets no
 * other one, and on servers that others share, a database with workspaces gets none. `sample-data.ts` fills the
 * workspace while it has no incident, by the public API, with idempotency keys. `receiver/` takes webhooks on this
 * machine, checks their signatures as a receiver should, and prints them. `end-block.ts` is what a start prints; its
 * last line is for programs. Sample data that cannot be created ends no start: the reason is printed.
 */
import { type EventWorkspace, SCOPES } from '@tocsin/schemas';
import { DomainError } from '@tocsin/http';
import { type Environment, systemClock } from '@tocsin/runtime';
import { type Administration, administration, openGatewayDatabase } from '../../gateway/src/administration.ts';
import { consoleUrl, loginUrl } from '../installation/console-url.ts';
import { withDatabase } from '../installation/databases.ts';
import type { DataDir } from '../installation/data-dir.ts';
import { addSampleWebhook } from './sample-webhook.ts';
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
  /** The address of the workspace that resolves everywhere, if there is one. */
  baseUrl: string;
  /** The workspace with its own host. */
  workspace: string;
  /** Undefined when an administrator has revoked the demo key. */
  token: string | undefined;
  /** Signs the demo user in once, within ten minutes; undefined when the user is deactivated. */
  console: string | undefined;
  /** Why sample data is missing, if it is. */
  error: string | undefined;
}

export interface DemoOptions {
  /** The gateway's address. */
  url: string;
  env: Environment;
  dataDir: DataDir;
  /** The file of the data folder that keeps the token: each database needs its own. */
  tokenFile: string;
  /** Add nothing to a database that has workspaces already. */
  onlyIfEmpty: boolean;
}

/**
 * Creates the demo workspace once.
 * @returns undefined when the database belongs to others
 */
export async function createDemo(options: DemoOptions): Promise<Demo | undefined> {
  const { url, env } = options;
  const { token, link } = await withDatabase(openGatewayDatabase(env), async (database) => {
    const admin = administration(database, systemClock);
    const demoToken = await findToken(admin, options);
    return { token: demoToken, link: demoToken.kind === 'none' ? undefined : await createLink(admin) };
  });
  if (token.kind === 'none') return undefined;
  const host = `${WORKSPACE.slug}.${env['BASE_DOMAIN'] ?? 'localhost'}:${new URL(url).port}`;
  // A host that resolves everywhere, where the gateway takes it for the workspace's.
  const baseUrl = env['DEFAULT_WORKSPACE'] === DEMO_WORKSPACE ? url : `http://${host}`;
  const workspace = `${DEMO_WORKSPACE}, http://${host}`;
  const console = link && loginUrl((env['PUBLIC_URL'] ?? '') === '' ? baseUrl : consoleUrl(env, DEMO_WORKSPACE), link);
  if (token.kind === 'ended') return { baseUrl, workspace, token: undefined, console, error: undefined };
  const { text } = token;
  const error = await addSampleData(workspaceApi({ baseUrl: url, host, token: text }))
    .then(async () => addSampleWebhook(env, token.workspace))
    .then(
      () => undefined,
      (reason: unknown) => (reason as Error).message,
    );
  return { baseUrl, workspace, token: text, console, error };
}

type DemoToken = { kind: 'valid'; text: string; workspace: EventWorkspace } | { kind: 'ended' } | { kind: 'none' };

async function findToken(admin: Administration, { dataDir, tokenFile, onlyIfEmpty }: DemoOptions): Promise<DemoToken> {
  const valid = async (text: string) => {
    const { id, slug, isDemo } = await admin.getWorkspace(DEMO_WORKSPACE);
    return { kind: 'valid', text, workspace: { id, slug, is_demo: isDemo } } as const;
  };
  const stored = await dataDir.findSecret(tokenFile);
  const key = stored === undefined ? undefined : await admin.findKeyByToken(DEMO_WORKSPACE, stored);
  if (stored !== undefined && key !== undefined) {
    const hasExpired = key.expiresAt !== null && key.expiresAt <= systemClock.now();
    // Whoever revoked the key did not ask for another one.
    return key.revokedAt !== null || hasExpired || !key.ownerActive ? { kind: 'ended' } : valid(stored);
  }
  if (onlyIfEmpty && (await admin.hasWorkspaces())) return { kind: 'none' };
  const text = await createToken(admin);
  await dataDir.replaceSecret(tokenFile, text);
  return valid(text);
}

const createLink = async (admin: Administration): Promise<string | undefined> =>
  admin.createLoginLink(OWNER).then(
    ({ token }) => token,
    () => undefined,
  );

async function createToken(admin: Administration): Promise<string> {
  // An earlier start may have been interrupted.
  await admin.createWorkspace(WORKSPACE).catch(ignoreConflict);
  await admin.createUser(OWNER).catch(ignoreConflict);
  const key = { workspace: WORKSPACE.slug, user: OWNER.email, name: 'demo', scopes: SCOPES };
  return (await admin.createKey(key)).token;
}

function ignoreConflict(error: unknown): void {
  if (!(error instanceof DomainError) || error.status !== 409) throw error;
}
