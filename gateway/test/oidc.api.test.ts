import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { request } from 'node:https';
import { eventually, httpClient, TEST_SECRET_KEYS } from '@tocsin/testing';
import { type GatewayHarness, startGatewayHarness } from './gateway-harness.ts';
import { at, memberOf, USERS } from './members.ts';
import { CLIENT, type Person, startProvider } from './oidc-provider.ts';

const CALLBACK = '/app/oidc/callback';
const uriOf = (workspace: string) => `http://${workspace}.localhost${CALLBACK}`;

let now = Date.now();
const provider = await startProvider([uriOf('acme'), uriOf('other')]);
const gateway = await startGatewayHarness({
  env: {
    WEBHOOK_TEST_RECEIVERS: `localhost:${provider.port}`,
    ...{ RATE_LIMIT_PER_MINUTE: '100000', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '100000' },
  },
  overrides: {
    ...{ ca: provider.ca, clock: { now: () => new Date(now).toISOString() } },
    identityAges: { version: 0, entry: 0 },
    // Only for the test of one that hangs.
    providerTimeout: 1_000,
  },
});
const connect = async (changes: Partial<Parameters<GatewayHarness['admin']['connectOidc']>[0]> = {}) =>
  gateway.admin.connectOidc({
    ...{ workspace: 'acme', issuer: provider.issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret },
    ...{ createsViewers: false, secretKeys: TEST_SECRET_KEYS },
    ...changes,
  });
await gateway.admin.createWorkspace({ slug: 'other', name: 'Other' });
const owner = await memberOf(gateway, { role: 'owner', seat: 'responder' });
await connect({ workspace: 'other' });
beforeEach(async () => connect());
afterAll(async () => {
  await gateway.close();
  await provider.stop();
});

/** As a browser: does not follow redirects. */
const open = async (path: string, cookie = '', workspace = 'acme') => {
  const { status, headers } = await gateway.send({
    ...{ method: 'GET', path, host: `${workspace}.localhost` },
    headers: { Cookie: cookie, 'User-Agent': 'Firefox/140.0 Linux', 'Sec-Fetch-Site': 'cross-site' },
  });
  const cookies = [headers['set-cookie'] ?? []].flat().map((each) => each.split(';')[0] ?? '');
  return { status, location: headers.location ?? '', cookies };
};

/** Goes through the pages of the provider, and returns the address that it sends the browser back to. */
async function visitProvider(address: string): Promise<URL> {
  const jar = new Map<string, string>();
  let url = new URL(address);
  while (url.hostname === 'localhost') {
    url = await new Promise<URL>((resolve, reject) => {
      const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
      request(url, { ca: provider.ca, headers: { cookie } }, (response) => {
        response.resume();
        for (const each of response.headers['set-cookie'] ?? []) {
          const [name = '', value = ''] = (each.split(';')[0] ?? '').split('=');
          jar.set(name, value);
        }
        const { location } = response.headers;
        if (location === undefined) reject(new Error(`the provider answers with ${response.statusCode}`));
        else resolve(new URL(location, url));
      })
        .on('error', reject)
        .end();
    });
  }
  return url;
}

/** Begins at a workspace, and comes back from the provider as a person. */
async function begin(person: Person, workspace = 'acme') {
  provider.signIn(person);
  const begun = await open('/app/oidc', '', workspace);
  expect(begun.status).toBe(303);
  const { pathname, search } = await visitProvider(begun.location);
  expect(pathname).toBe(CALLBACK);
  return { path: `${pathname}${search}`, cookie: begun.cookies.join('; '), begun };
}

async function signIn(person: Person, workspace = 'acme') {
  const { path, cookie } = await begin(person, workspace);
  return open(path, cookie, workspace);
}

const refusal = (reason: string) => ({
  status: 303,
  location: `/app/sign-in?refused=${reason}`,
  cookies: ['tocsin-oidc='],
});
const verified = (email: string, name = 'Ana'): Person => ({
  sub: `sub of ${email}`,
  email,
  email_verified: true,
  name,
});
const meOf = async (cookies: string[]) =>
  (await httpClient(gateway.app.url, { Host: 'acme.localhost', Cookie: cookies[0] ?? '' }).get('/api/v1/me')).body;

describe('a sign-in by a provider', () => {
  test('begins the session of the user with the verified email address, in any case', async () => {
    const { status, location, cookies } = await signIn(verified(owner.user.email.toUpperCase()));
    expect([status, location, cookies[1]]).toEqual([303, '/app/', 'tocsin-oidc=']);
    expect(await meOf(cookies)).toMatchObject({ user: { id: owner.user.id, role: 'owner' } });
    await eventually(async () => {
      const { body } = await owner.client.get('/api/v1/settings/audit-log?action=session.created');
      return body.entries.some(({ actor }: { actor: { user_id: number } }) => actor.user_id === owner.user.id);
    });
  });

  test('asks with PKCE, state and nonce, and shows none of their secrets', async () => {
    const { begun } = await begin(verified(owner.user.email));
    const { searchParams } = new URL(begun.location);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      ...{ response_type: 'code', code_challenge_method: 'S256', redirect_uri: uriOf('acme') },
      ...{ scope: 'openid email profile', state: expect.any(String), nonce: expect.any(String) },
    });
    expect(begun.cookies).toEqual([expect.stringMatching(/^tocsin-oidc=[\w-]+\.[\w-]+$/)]);
    expect(begun.cookies[0]).not.toContain(searchParams.get('state'));
  });

  test('refuses people without a user, or makes them viewers if the workspace says so', async () => {
    const person = verified('new@acme.example', '  Nia New ');
    expect(await signIn(person)).toEqual(refusal('unknown_user'));
    await connect({ createsViewers: true });
    const { cookies } = await signIn(person);
    expect(await meOf(cookies)).toMatchObject({
      user: { email: 'new@acme.example', name: 'Nia New', role: 'viewer', seat: 'none' },
    });
    const { users } = (await owner.client.get(`${USERS}?q=new@acme.example`)).body;
    expect((await meOf((await signIn(person)).cookies)).user.id).toBe(users[0].id);
    expect(users).toHaveLength(1);
    await gateway.admin.setWorkspace({ slug: 'acme', quotas: { users: 2 } });
    expect(await signIn(verified('more@acme.example'))).toEqual(refusal('user_quota'));
    await gateway.admin.setWorkspace({ slug: 'acme', quotas: { users: 'default' } });
  });

  test('refuses addresses that are not verified, not there, or only look like the address of a user', async () => {
    const { email } = owner.user;
    expect(await signIn({ sub: 'a', email, email_verified: false })).toEqual(refusal('unverified_email'));
    expect(await signIn({ sub: 'b', email })).toEqual(refusal('unverified_email'));
    expect(await signIn({ sub: 'c' })).toEqual(refusal('unverified_email'));
    await gateway.admin.createUser({ workspace: 'acme', email: 'kim@acme.example', name: 'Kim' });
    expect(await signIn(verified('\u212Aim@acme.example'))).toEqual(refusal('unknown_user'));
  });

  test('refuses users who are deactivated, or of another workspace', async () => {
    const leaving = await memberOf(gateway);
    await owner.client.patch(`${USERS}/${leaving.user.id}`, { active: false }, at(1));
    expect(await signIn(verified(leaving.user.email))).toEqual(refusal('deactivated_user'));
    expect(await signIn(verified(owner.user.email), 'other')).toEqual(refusal('unknown_user'));
  });

  test('works once, in the browser and the workspace that began it, and for ten minutes', async () => {
    const person = verified(owner.user.email);
    const { path, cookie } = await begin(person);
    expect(await open(path)).toEqual(refusal('expired'));
    expect(await open(path, cookie, 'other')).toEqual(refusal('expired'));
    expect(await open(path, `${cookie.slice(0, -4)}AAAA`)).toEqual(refusal('expired'));
    expect(await open(path, (await begin(person)).cookie)).toEqual(refusal('provider_refused'));
    expect(await open(path.replace(/state=[^&]+/, 'state=x'), cookie)).toEqual(refusal('provider_refused'));
    const before = now;
    now += 600_000;
    expect(await open(path, cookie)).toEqual(refusal('expired'));
    now = before;
    expect((await open(path, cookie)).location).toBe('/app/');
    expect(await open(path, cookie)).toEqual(refusal('provider_refused'));
  });

  test.each([
    ['an error of the provider', '?error=access_denied'],
    ['no code', ''],
    ['a code that is not its own', '?code=x'],
    ['repeated parameters', '?code=x&code=y'],
  ])('refuses %s', async (_, search) => {
    const { cookie, begun } = await begin(verified(owner.user.email));
    const state = new URL(begun.location).searchParams.get('state') ?? '';
    const iss = encodeURIComponent(provider.issuer);
    const path = `${CALLBACK}${search}${search === '' ? '?' : '&'}state=${state}&iss=${iss}`;
    expect(await open(path, cookie)).toEqual(refusal('provider_refused'));
  });

  test('refuses what a provider with another secret, or an address inside of the network, would confirm', async () => {
    await connect({ clientSecret: 'another' });
    expect(await signIn(verified(owner.user.email))).toEqual(refusal('provider_refused'));
    for (const issuer of [
      'https://127.0.0.1:1',
      'https://10.0.0.1',
      'https://169.254.169.254',
      'https://idp.internal',
    ]) {
      await connect({ issuer });
      expect(await open('/app/oidc')).toEqual(refusal('provider_unavailable'));
    }
  });

  test('ends while a provider hangs, and works when it answers again', async () => {
    await connect();
    provider.setHanging(true);
    const hanging = await Promise.all(Array.from({ length: 12 }, async () => open('/app/oidc')));
    expect(new Set(hanging.map(({ location }) => location))).toEqual(
      new Set([refusal('provider_unavailable').location]),
    );
    provider.setHanging(false);
    expect((await signIn(verified(owner.user.email))).location).toBe('/app/');
  });

  test('is offered only where the workspace has a provider', async () => {
    const offered = async (workspace: string) =>
      (await httpClient(gateway.app.url, { Host: `${workspace}.localhost` }).get('/app/session')).body;
    expect([await offered('acme'), await offered('nobody')]).toEqual([{ oidc: true }, { oidc: false }]);
    await gateway.admin.disconnectOidc('other');
    expect(await offered('other')).toEqual({ oidc: false });
    expect(await open('/app/oidc', '', 'other')).toEqual(refusal('provider_unavailable'));
    const posted = await httpClient(gateway.app.url, { Host: 'acme.localhost' }).post('/app/oidc');
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
  });
});

test('guesses of callbacks are counted as requests without a valid token', async () => {
  const strict = await startGatewayHarness({ env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '2' } });
  try {
    const guess = async () => (await strict.send({ method: 'GET', path: `${CALLBACK}?code=x&state=y` })).status;
    expect([await guess(), await guess(), await guess()]).toEqual([303, 303, 429]);
  } finally {
    await strict.close();
  }
});

test('a provider is recorded in the audit log without its secret, and its secret is stored encrypted', async () => {
  await connect({ createsViewers: true });
  await eventually(async () => {
    const { body } = await owner.client.get('/api/v1/settings/audit-log?action=oidc_provider.updated');
    const [entry] = body.entries;
    if (entry?.after.creates_viewers !== true) return false;
    expect(entry.after).toEqual({ issuer: provider.issuer, client_id: CLIENT.id, creates_viewers: true });
    return true;
  });
  for (const [field, changes] of [
    ['issuer', { issuer: 'http://idp.example' }],
    ['issuer', { issuer: 'https://a:b@idp.example' }],
    ['issuer', { issuer: `https://idp.example/${'x'.repeat(512)}` }],
    ['client_id', { clientId: 'two words' }],
    ['client_secret', { clientSecret: '' }],
  ] as const) {
    await expect(connect(changes)).rejects.toMatchObject({ code: 'invalid_request', field });
  }
});
