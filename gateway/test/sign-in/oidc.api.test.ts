import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { QUEUES } from '@tocsin/schemas';
import { eventually, httpClient, startConnectProxy, TEST_SECRET_KEYS } from '@tocsin/testing';
import { type GatewayHarness, openers, startGatewayHarness } from '../gateway-harness.ts';
import { at, clientOf, memberOf, USERS } from '../members.ts';
import {
  CLIENT,
  claimsOf,
  newSigningKey,
  type Person,
  signClaims,
  startProvider,
  visitProvider,
} from './oidc-provider.ts';

const { open: openGateway } = openers();

const CALLBACK = '/app/oidc/callback';
const uriOf = (workspace: string) => `http://${workspace}.localhost${CALLBACK}`;

let now = Date.now();
const provider = await startProvider([uriOf('acme'), uriOf('other'), uriOf('few')]);
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
// Without them, the events of users stay in the outbox, before those of the audit log.
for (const queue of [QUEUES.catalogReplicas, QUEUES.incidentReplicas])
  gateway.broker.subscribe(queue, async () => 'ack');
const connect = async (changes: Partial<Parameters<GatewayHarness['admin']['connectOidc']>[0]> = {}) =>
  gateway.admin.connectOidc({
    ...{ workspace: 'acme', issuer: provider.issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret },
    ...{ createsViewers: false, trustsEmail: false, groups: null, secretKeys: TEST_SECRET_KEYS },
    ...changes,
  });
await gateway.admin.createWorkspace({ slug: 'other', name: 'Other' });
const owner = await memberOf(gateway, { role: 'owner', seat: 'responder' });
await connect({ workspace: 'other' });
beforeEach(async () => {
  provider.rewrite({});
  await connect();
});
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

/** Begins at a workspace, and comes back from the provider as a person. */
async function begin(person: Person, workspace = 'acme') {
  provider.signIn(person);
  const begun = await open('/app/oidc', '', workspace);
  expect(begun.status).toBe(303);
  const { pathname, search } = await visitProvider(begun.location, provider.ca);
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

describe('an ID token', () => {
  const [own, other] = [newSigningKey('own'), newSigningKey('other')];
  /** Lets the provider publish a key, and answer with an ID token that is made from its claims. */
  const issue = (token: (claims: Record<string, unknown>) => string, published = [own.jwk], algorithms = ['RS256']) =>
    provider.rewrite({
      '/.well-known/openid-configuration': (body) => ({ ...body, id_token_signing_alg_values_supported: algorithms }),
      '/jwks': () => ({ keys: published }),
      '/token': (body) => ({ ...body, id_token: token(claimsOf(body['id_token'])) }),
    });
  const signed =
    (change: object = {}, { privateKey } = own, kid = 'own') =>
    (claims: object) =>
      signClaims({ ...claims, ...change }, { alg: 'RS256', kid }, privateKey);
  const person = verified(owner.user.email);
  const seconds = () => Math.floor(Date.now() / 1_000);

  test.each([
    ['is not signed', (claims: object) => signClaims({ ...claims }, { alg: 'none' })],
    ['is signed with another key', signed({}, other)],
    ['is signed with another key of an unknown name', signed({}, other, 'unknown')],
    [
      'is signed with the public key as a secret',
      (claims: object) =>
        signClaims(
          { ...claims },
          { alg: 'HS256', kid: 'own' },
          String(own.publicKey.export({ type: 'spki', format: 'pem' })),
        ),
    ],
    [
      'is signed with the secret of the client',
      (claims: object) => signClaims({ ...claims }, { alg: 'HS256' }, CLIENT.secret),
    ],
    ['was changed', (claims: object) => `${signed()(claims).slice(0, -8)}AAAAAAAA`],
    ['is of another issuer', signed({ iss: 'https://idp.example' })],
    ['is for another client', signed({ aud: 'another' })],
    ['is for several clients', signed({ aud: [CLIENT.id, 'another'] })],
    ['was issued to another client', signed({ azp: 'another' })],
    ['has another nonce', signed({ nonce: 'another' })],
    ['has no nonce', signed({ nonce: undefined })],
    ['has expired', signed({ exp: seconds() - 300 })],
  ])('that %s signs nobody in', async (_, token) => {
    issue(token, [own.jwk], ['RS256', 'HS256', 'none']);
    await connect();
    expect(await signIn(person)).toEqual(refusal('provider_refused'));
  });

  test('signs in with keys that are read again as soon as the provider has a new one', async () => {
    issue(signed());
    await connect();
    expect((await signIn(person)).location).toBe('/app/');
    issue(signed({}, other, 'other'), [other.jwk]);
    expect((await signIn(person)).location).toBe('/app/');
    // Not with one that is no longer published.
    issue(signed(), [other.jwk]);
    expect(await signIn(person)).toEqual(refusal('provider_refused'));
    // Clocks differ.
    issue((claims) => signed({ exp: seconds() - 1 })(claims));
    expect((await signIn(person)).location).toBe('/app/');
  });
});

describe('an account at a provider', () => {
  const entriesOf = async (action: string) => {
    const { body } = await owner.client.get(`/api/v1/settings/audit-log?action=${action}&limit=100`);
    return body.entries as { actor: object; target: { id: string }; before: object | null; after: object | null }[];
  };
  const entryOf = async (action: string, id: number) => {
    await eventually(async () => (await entriesOf(action)).some(({ target }) => target.id === String(id)));
    return (await entriesOf(action)).find(({ target }) => target.id === String(id));
  };
  const forget = async (email?: string) => gateway.admin.forgetOidcIdentities({ workspace: 'acme', email });

  test('is the only one of its user, until an operator forgets it', async () => {
    const { user } = await memberOf(gateway);
    const person = verified(user.email);
    const successor = { ...person, sub: 'successor' };
    expect((await signIn(person)).location).toBe('/app/');
    const account = { user_id: user.id, issuer: provider.issuer, subject: person.sub };
    expect(await entryOf('oidc_identity.created', user.id)).toMatchObject({
      ...{ actor: { type: 'user', user_id: user.id }, before: null, after: account },
    });
    expect(await signIn(successor)).toEqual(refusal('other_account'));
    expect((await signIn(person)).location).toBe('/app/');
    expect(await forget(user.email)).toEqual([{ userId: user.id, issuer: provider.issuer, subject: person.sub }]);
    expect((await signIn(successor)).location).toBe('/app/');
    expect(await entryOf('oidc_identity.deleted', user.id)).toMatchObject({
      ...{ actor: { type: 'operator' }, before: account, after: null },
    });
    expect(await signIn(person)).toEqual(refusal('other_account'));
  });

  test('is of one user, also when its address changes', async () => {
    const [first, second] = [await memberOf(gateway), await memberOf(gateway)];
    const person = verified(first.user.email);
    expect((await signIn(person)).location).toBe('/app/');
    expect(await signIn({ ...person, email: second.user.email })).toEqual(refusal('other_account'));
    await connect({ createsViewers: true });
    expect(await signIn({ ...person, email: 'fresh@acme.example' })).toEqual(refusal('other_account'));
    // The same subject of another issuer is another account.
    provider.rewrite({});
    expect(await forget()).toContainEqual({ userId: first.user.id, issuer: provider.issuer, subject: person.sub });
    expect((await signIn({ ...person, email: second.user.email })).location).toBe('/app/');
  });

  test('is in the audit log with the user that it made', async () => {
    await connect({ createsViewers: true });
    const person = verified('made@acme.example', 'Mia Made');
    const { user } = await meOf((await signIn(person)).cookies);
    const oidc = { issuer: provider.issuer, subject: person.sub };
    expect(await entryOf('user.created', user.id)).toMatchObject({
      ...{ actor: { type: 'operator' }, after: { email: person.email, role: 'viewer', oidc } },
    });
    expect(await entryOf('oidc_identity.created', user.id)).toMatchObject({ after: { user_id: user.id, ...oidc } });
  });

  test.each([
    ['NUL in the subject', { sub: 'a\0b' }],
    ['NUL in the address', { email: 'a\0b@acme.example' }],
    ['half a character in the address', { email: 'a\uD800@acme.example' }],
    ['half a character in the subject', { sub: '\uD800' }],
    ['a subject of 256 characters', { sub: 'x'.repeat(256) }],
    ['no address', { email: 'nobody' }],
  ])('with %s is refused', async (_, claims) => {
    const key = newSigningKey('own');
    provider.rewrite({
      '/jwks': () => ({ keys: [key.jwk] }),
      '/token': (body) => ({
        ...body,
        id_token: signClaims(
          { ...claimsOf(body['id_token']), ...verified(owner.user.email), ...claims },
          { alg: 'RS256', kid: 'own' },
          key.privateKey,
        ),
      }),
    });
    await connect({ createsViewers: true });
    expect(await signIn(verified(owner.user.email))).toEqual(refusal('unusable_account'));
  });

  test('is verified by true or "true" and by nothing that only looks like it, whether or not an operator trusts it', async () => {
    const { user } = await memberOf(gateway);
    const key = newSigningKey('own');
    const person = verified(user.email);
    const like = [['true'], [true], [['true']], 'True', ' true', 'false', '', 1, '1', {}, { true: true }, null, false];
    for (const trustsEmail of [false, true]) {
      await connect({ trustsEmail });
      for (const claim of [true, 'true', ...like]) {
        provider.rewrite({
          '/jwks': () => ({ keys: [key.jwk] }),
          '/token': (body) => ({
            ...body,
            id_token: signClaims(
              { ...claimsOf(body['id_token']), email: user.email, email_verified: claim },
              { alg: 'RS256', kid: 'own' },
              key.privateKey,
            ),
          }),
        });
        const location = claim === true || claim === 'true' ? '/app/' : refusal('unverified_email').location;
        expect({ claim, location: (await signIn(person)).location }).toEqual({ claim, location });
      }
    }
  });

  test('with an address that its provider says nothing about is taken if an operator trusts it', async () => {
    const { user } = await memberOf(gateway);
    const silent: Person = { sub: 'silent', email: user.email };
    expect(await signIn(silent)).toEqual(refusal('unverified_email'));
    await connect({ trustsEmail: true });
    expect(await signIn({ ...silent, email_verified: false })).toEqual(refusal('unverified_email'));
    expect((await signIn(silent)).location).toBe('/app/');
  });
});

describe('groups at a provider', () => {
  const roles = [
    { group: 'Leads', role: 'manager' },
    { group: 'Platform', role: 'admin' },
    { group: 'Everyone', role: 'member' },
  ] as const;
  const groups = { claim: 'groups', scope: 'groups', roles };
  const roleAfter = async (person: Person) => (await meOf((await signIn(person)).cookies)).user.role as string;

  test('give the highest of their roles at each sign-in, and people without one of them read', async () => {
    await connect({ createsViewers: true, groups });
    const person = verified('grouped@acme.example');
    expect(await roleAfter({ ...person, groups: ['Everyone', 'Platform', 'Leads', 'Others'] })).toBe('admin');
    expect(await roleAfter({ ...person, groups: ['Leads'] })).toBe('manager');
    expect(await roleAfter({ ...person, groups: 'Everyone' })).toBe('member');
    expect(await roleAfter({ ...person, groups: ['leads'] })).toBe('viewer');
    expect(await roleAfter({ ...person, groups: ['Platform'] })).toBe('admin');
    expect(await roleAfter(person)).toBe('viewer');
    const { user } = await memberOf(gateway, { role: 'admin', seat: 'responder' });
    expect(await roleAfter({ ...verified(user.email), groups: ['Leads'] })).toBe('manager');
    await eventually(async () => {
      const { body } = await owner.client.get('/api/v1/settings/audit-log?action=user.updated');
      const [entry] = body.entries.filter(({ target }: { target: { id: string } }) => target.id === String(user.id));
      if (entry === undefined) return false;
      expect(entry).toMatchObject({
        actor: { type: 'operator' },
        before: { role: 'admin', seat: 'responder' },
        after: {
          role: 'manager',
          seat: 'responder',
          oidc: { issuer: provider.issuer, subject: `sub of ${user.email}` },
        },
      });
      return true;
    });
    await connect();
    expect(await roleAfter({ ...verified(user.email), groups: ['Platform'] })).toBe('manager');
  });

  test('give a seat to new people too, and take it from sessions and keys at the next sign-in without one', async () => {
    await connect({ createsViewers: true, groups: { claim: 'groups', scope: 'groups', seats: ['Others', 'On-call'] } });
    const email = 'on-call@acme.example';
    const person = verified(email);
    const { cookies } = await signIn({ ...person, groups: ['On-call'] });
    const { user } = await meOf(cookies);
    expect(user).toMatchObject({ role: 'viewer', seat: 'responder' });
    const named = { workspace: 'acme', user: email };
    const { token } = await gateway.admin.createKey({ ...named, name: 'test', scopes: ['incidents:write'] });
    const session = { Host: 'acme.localhost', 'Sec-Fetch-Site': 'same-origin', Cookie: cookies[0] ?? '' };
    const clients = [httpClient(gateway.app.url, session), clientOf(gateway, token)];
    const declare = async () =>
      Promise.all(
        clients.map(async (client) => {
          const { status, body } = await client.post('/api/v1/incidents', { title: 'Down' });
          return status === 201 ? status : body.code;
        }),
      );
    expect(await declare()).toEqual([201, 201]);
    // Roles stay as they are given in Tocsin.
    await gateway.admin.setUser({ workspace: 'acme', email, role: 'manager' });
    expect((await meOf((await signIn({ ...person, groups: ['on-call'] })).cookies)).user).toMatchObject({
      ...{ id: user.id, role: 'manager', seat: 'none' },
    });
    await eventually(async () => (await declare()).every((result) => result === 'responder_seat_required'));
    await eventually(async () => {
      const { body } = await owner.client.get('/api/v1/settings/audit-log?action=user.updated');
      const entry = body.entries.find(
        ({ target, after }: { target: { id: string }; after: { seat: string } }) =>
          target.id === String(user.id) && after.seat === 'none',
      );
      if (entry === undefined) return false;
      expect(entry).toMatchObject({
        ...{ actor: { type: 'operator' }, before: { role: 'manager', seat: 'responder' } },
        after: { role: 'manager', oidc: { issuer: provider.issuer, subject: person.sub } },
      });
      return true;
    });
    // A seat that is given in Tocsin is taken, too, until groups give none.
    await gateway.admin.setUser({ workspace: 'acme', email, seat: 'responder' });
    expect((await meOf((await signIn(person)).cookies)).user.seat).toBe('none');
    await gateway.admin.setUser({ workspace: 'acme', email, seat: 'responder' });
    await connect();
    expect((await meOf((await signIn(person)).cookies)).user.seat).toBe('responder');
  });

  test('give roles and seats independently', async () => {
    await connect({ createsViewers: true, groups: { ...groups, seats: ['Everyone', 'Leads'] } });
    const person = verified('both@acme.example');
    for (const [names, role, seat] of [
      [['Everyone', 'Platform'], 'admin', 'responder'],
      [['Platform'], 'admin', 'none'],
      [['Leads'], 'manager', 'responder'],
      [[], 'viewer', 'none'],
    ] as const) {
      const { user } = await meOf((await signIn({ ...person, groups: names })).cookies);
      expect([user.role, user.seat]).toEqual([role, seat]);
    }
  });

  test('take no role from the last one who has it', async () => {
    await gateway.admin.createWorkspace({ slug: 'few', name: 'Few' });
    const few = await startGroupsProviderOf('few');
    const [boss, deputy] = [
      await memberOf(gateway, { workspace: 'few', role: 'owner', seat: 'responder' }),
      await memberOf(gateway, { workspace: 'few', role: 'admin' }),
    ];
    expect(await few(boss.user.email)).toEqual(['owner', 'none']);
    expect(await few(deputy.user.email)).toEqual(['viewer', 'none']);
    // Without an owner, the last one who manages settings.
    await gateway.admin.setUser({ workspace: 'few', email: boss.user.email, role: 'member' });
    await gateway.admin.setUser({ workspace: 'few', email: deputy.user.email, role: 'admin' });
    expect(await few(deputy.user.email)).toEqual(['admin', 'none']);
  });

  const startGroupsProviderOf = async (workspace: string) => {
    await connect({ workspace, groups: { ...groups, seats: ['Everyone'] } });
    return async (email: string) => {
      const { cookies } = await signIn(verified(email), workspace);
      const client = httpClient(gateway.app.url, { Host: `${workspace}.localhost`, Cookie: cookies[0] ?? '' });
      const { user } = (await client.get('/api/v1/me')).body;
      return [user.role, user.seat] as string[];
    };
  };

  test('that are no texts, or too many to be sent, refuse the sign-in', async () => {
    const { user } = await memberOf(gateway, { role: 'admin' });
    await connect({ groups });
    expect(await signIn({ ...verified(user.email), groups: [1] })).toEqual(refusal('provider_refused'));
    const key = newSigningKey('own');
    provider.rewrite({
      '/jwks': () => ({ keys: [key.jwk] }),
      '/token': (body) => ({
        ...body,
        id_token: signClaims(
          { ...claimsOf(body['id_token']), _claim_names: { groups: 'src1' } },
          { alg: 'RS256', kid: 'own' },
          key.privateKey,
        ),
      }),
    });
    await connect({ groups });
    expect(await signIn(verified(user.email))).toEqual(refusal('provider_refused'));
    expect((await owner.client.get(`${USERS}/${user.id}`)).body.user.role).toBe('admin');
  });
});

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
    await gateway.admin.forgetOidcIdentities({ workspace: 'acme', email });
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

  describe('while another user is signed in', () => {
    const send = async (cookie: string, search = '', more: Record<string, string> = {}, workspace = 'acme') => {
      const host = { Host: `${workspace}.localhost`, 'Sec-Fetch-Site': 'same-origin', Cookie: cookie };
      const { status, body, headers } = await httpClient(gateway.app.url, host).post(
        `/app/session${search}`,
        undefined,
        more,
      );
      const cookies = (headers.get('set-cookie') ?? '').split(/,(?=\S)/);
      return { status, body, cookies: cookies.map((each) => each.split(';')[0] ?? '') };
    };
    /** Comes back from the provider with the session of another user. */
    const ask = async (session: string, email: string) => {
      const { path, cookie } = await begin(verified(email));
      const asked = await open(path, `${session}; ${cookie}`);
      return { ...asked, link: asked.cookies.find((each) => each.startsWith('tocsin-link=')) ?? '' };
    };

    test('asks before it replaces the session, in the browser that signs in, once and for ten minutes', async () => {
      const [one, other] = [await memberOf(gateway), await memberOf(gateway)];
      const session = (await signIn(verified(one.user.email))).cookies[0] ?? '';
      const { location, cookies, link } = await ask(session, other.user.email);
      expect([location, cookies]).toEqual(['/app/sign-in?by=provider', [link, 'tocsin-oidc=']]);
      expect(link).toMatch(/^tocsin-link=tcl_/);
      expect((await meOf([session])).user.id).toBe(one.user.id);
      const people = { signed_in: { email: one.user.email }, link: { email: other.user.email } };
      expect(await send(`${session}; ${link}`)).toMatchObject({ status: 409, body: { details: people } });
      expect((await meOf([session])).user.id).toBe(one.user.id);

      // Without the cookie, with another token, from another site or at another workspace, it is nobody's.
      expect((await send(session, '?replace=true')).status).toBe(401);
      expect((await send(link, '?replace=true', { Authorization: 'Bearer tcs_wrong' })).status).toBe(401);
      expect((await send(link, '?replace=true', { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
      expect((await send(link, '?replace=true', {}, 'other')).status).toBe(401);
      // Nor does the cookie take anything but a link.
      for (const token of [other.token, session.slice('tocsin='.length)])
        expect((await send(`tocsin-link=${token}`)).status).toBe(401);

      const begun = await send(`${session}; ${link}`, '?replace=true');
      expect(begun).toMatchObject({ status: 204, cookies: [expect.stringMatching(/^tocsin=./), 'tocsin-link='] });
      expect((await meOf(begun.cookies)).user.id).toBe(other.user.id);
      expect((await send(`${session}; ${link}`, '?replace=true')).status).toBe(401);

      const late = await ask(session, other.user.email);
      const before = now;
      now += 600_000;
      expect((await send(`${session}; ${late.link}`, '?replace=true')).status).toBe(401);
      now = before;
    });

    test('stores the account of a first sign-in, and asks nobody who signs in again', async () => {
      const [one, other] = [await memberOf(gateway), await memberOf(gateway)];
      const session = (await signIn(verified(one.user.email))).cookies[0] ?? '';
      await ask(session, other.user.email);
      expect(await signIn({ ...verified(other.user.email), sub: 'another account' })).toEqual(refusal('other_account'));
      const { path, cookie } = await begin(verified(one.user.email));
      expect((await open(path, `${session}; ${cookie}`)).location).toBe('/app/');
    });
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
    expect([await offered('acme'), await offered('nobody')]).toEqual([
      { oidc: true, workspace: 'Acme', provider: new URL(provider.issuer).host },
      { oidc: false, workspace: null, provider: null },
    ]);
    await gateway.admin.disconnectOidc('other');
    expect(await offered('other')).toEqual({ oidc: false, workspace: 'Other', provider: null });
    expect(await open('/app/oidc', '', 'other')).toEqual(refusal('provider_unavailable'));
    const posted = await httpClient(gateway.app.url, { Host: 'acme.localhost' }).post('/app/oidc');
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
  });
});

test('a provider is asked through the proxy of the operator', async () => {
  const proxy = await startConnectProxy();
  const remote = await startProvider([uriOf('acme')], 'id.example');
  proxy.targets.set('id.example:443', remote.port);
  const proxied = await startGatewayHarness({
    env: { HTTPS_PROXY: proxy.url },
    overrides: { ca: remote.ca, resolve: async () => Promise.reject(new Error('the proxy resolves names')) },
  });
  try {
    await proxied.admin.connectOidc({
      ...{ workspace: 'acme', issuer: remote.issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret },
      ...{ createsViewers: false, trustsEmail: false, groups: null, secretKeys: TEST_SECRET_KEYS },
    });
    const { status, headers } = await proxied.send({ method: 'GET', path: '/app/oidc', host: 'acme.localhost' });
    expect([status, headers.location]).toEqual([303, expect.stringMatching(/^https:\/\/id\.example\/auth\?/)]);
    expect(proxy.requests).toMatchObject([{ target: 'id.example:443' }]);
  } finally {
    await proxied.close();
    await remote.stop();
    await proxy.stop();
  }
});

test('guesses of callbacks are counted as requests without a valid token', async () => {
  const strict = await openGateway({ env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '2' } });
  const guess = async () => (await strict.send({ method: 'GET', path: `${CALLBACK}?code=x&state=y` })).status;
  expect([await guess(), await guess(), await guess()]).toEqual([303, 303, 429]);
});

test('a provider is recorded in the audit log without its secret, and its secret is stored encrypted', async () => {
  const groups = { claim: 'groups', scope: null, seats: ['On-call'] };
  await connect({ createsViewers: true, groups });
  // Without a change by the gateway, its relay would look for those of operators in seconds only.
  await signIn(verified(owner.user.email));
  await eventually(async () => {
    const { body } = await owner.client.get('/api/v1/settings/audit-log?action=oidc_provider.updated');
    const [entry] = body.entries;
    if (entry?.after.groups?.seats === undefined) return false;
    expect(entry).toMatchObject({ before: { groups: null } });
    expect(entry.after).toEqual({
      ...{ issuer: provider.issuer, client_id: CLIENT.id, creates_viewers: true, trusts_email: false, groups },
    });
    return true;
  });
  for (const [field, changes] of [
    ['issuer', { issuer: 'http://idp.example' }],
    ['issuer', { issuer: 'https://a:b@idp.example' }],
    ['issuer', { issuer: `https://idp.example/${'x'.repeat(512)}` }],
    ['client_id', { clientId: 'two words' }],
    ['client_secret', { clientSecret: '' }],
    ['issuer', { issuer: 'https://login.microsoftonline.com/common/v2.0' }],
    ['groups', { groups: { claim: 'groups', scope: null } }],
    ['groups', { groups: { claim: 'groups', scope: null, roles: [] } }],
    ['groups', { groups: { ...groups, seats: [] } }],
    ['groups', { groups: { ...groups, seats: [''] } }],
    ['groups', { groups: { ...groups, seats: ['x'.repeat(513)] } }],
    ['groups', { groups: { ...groups, seats: Array.from({ length: 101 }, String) } }],
    ['groups', { groups: { claim: 'two words', scope: null, roles: [{ group: 'a', role: 'admin' }] } }],
    ['groups', { groups: { claim: 'groups', scope: null, roles: [{ group: '', role: 'admin' }] } }],
  ] as const) {
    await expect(connect(changes)).rejects.toMatchObject({ code: 'invalid_request', field });
  }
});
