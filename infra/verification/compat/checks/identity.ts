import assert from 'node:assert/strict';
import { httpClient } from '@tocsin/testing';
import { clientOf, type Context, SLUG, succeed, type World } from '../world.ts';
import type { Release } from '../release.ts';

interface Person {
  slug: string;
  email: string;
}

/** Runs an administration command with the code of a release. @throws Error with its message */
export async function admin<Answer>(world: World, release: Release, ...args: string[]): Promise<Answer> {
  const { output = '', error } = await release.runAdmin([...args, '--json'], world.env);
  if (error !== undefined) throw new Error(`admin ${args.slice(0, 2).join(' ')} (${release.name}): ${error}`);
  return JSON.parse(output) as Answer;
}

/** Creates a user with all rights, and a key with all scopes. */
export async function createPerson(
  world: World,
  release: Release,
  { slug, email }: Person,
): Promise<{ userId: number; token: string }> {
  const user = ['--workspace', slug, '--email', email];
  const rights = ['--role', 'admin', '--seat', 'responder'];
  const created = await admin<{ user: { id: number } }>(
    world,
    release,
    ...['user', 'create', ...user, '--name', email, ...rights],
  );
  const key = ['--workspace', slug, '--user', email, '--name', 'compat', '--all-scopes'];
  const { token } = await admin<{ token: string }>(world, release, 'key', 'create', ...key);
  return { userId: created.user.id, token };
}

const browserOf = ({ url }: World, headers: Record<string, string> = {}) =>
  httpClient(url, { Host: `${SLUG}.localhost`, ...headers });

/** Signs a user in by a link that the administration of a release makes. */
async function signIn(world: World, release: Release, email: string): Promise<void> {
  const user = ['--workspace', SLUG, '--email', email];
  const { url } = await admin<{ url: string }>(world, release, 'login-link', ...user);
  const headers = { Authorization: `Bearer ${url.split('#')[1] ?? ''}`, 'Sec-Fetch-Site': 'same-origin' };
  const answer = await succeed(204, 'a sign-in by a link', async () => browserOf(world, headers).post('/app/session'));
  world.sessions.push((answer.headers.get('Set-Cookie') ?? '').split(';')[0] ?? '');
}

/**
 * The administration of the release that the gateway does not have creates a user, a key and a login link; the gateway
 * accepts them.
 */
export async function checkIdentity(context: Context): Promise<void> {
  const { world, label } = context;
  const other = context.releaseOf('gateway') === world.releases.old ? world.releases.new : world.releases.old;
  const email = `${label}@acme.example`;
  const { userId, token } = await createPerson(world, other, { slug: SLUG, email });
  context.current.userId = userId;
  context.client = clientOf(world, SLUG, token);
  world.tokens.push(token);
  await succeed(200, 'a list with the new key', async () => context.client.get('/api/v1/incidents?limit=1'));
  await signIn(world, other, email);
}

/** Every key and session that was created before is accepted, and an unknown one is not. */
export async function checkEarlierKeys(context: Context): Promise<void> {
  const { world } = context;
  for (const token of world.tokens) {
    await succeed(200, 'a list with an earlier key', async () =>
      clientOf(world, SLUG, token).get('/api/v1/incidents?limit=1'),
    );
  }
  for (const Cookie of world.sessions) {
    await succeed(200, 'the owner of an earlier session', async () => browserOf(world, { Cookie }).get('/api/v1/me'));
  }
  const unknown = clientOf(world, SLUG, `tcs_${'a'.repeat(49)}`);
  assert.equal((await unknown.get('/api/v1/incidents')).status, 401);
}
