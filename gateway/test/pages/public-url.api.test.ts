import { describe, expect, test } from '@jest/globals';
import { TEST_SECRET_KEYS } from '@tocsin/testing';
import { type GatewayHarness, openers, startGatewayHarness } from '../gateway-harness.ts';
import { CLIENT, startProvider, visitProvider } from '../sign-in/oidc-provider.ts';

const { open: openGateway } = openers();

const EMAIL = 'ana@acme.example';
const WRITE = { method: 'POST', path: '/api/v1/incidents', body: { title: 'x' } };
/** What the proxy sends to the gateway: its own Host, and the host that it maps the public one to. */
const BEHIND_PROXY = { Host: 'gateway.internal', 'X-Forwarded-Host': 'acme.localhost', 'X-Forwarded-For': '192.0.2.1' };

/** A gateway with a user who can sign in. */
async function openFor(env: Record<string, string>): Promise<GatewayHarness> {
  const gateway = await openGateway({ env });
  await gateway.admin.createUser({ workspace: 'acme', email: EMAIL, name: 'Ana', role: 'owner', seat: 'responder' });
  return gateway;
}

/** Opens a sign-in link as a browser that sends no Sec-Fetch-Site. */
async function signIn(gateway: GatewayHarness, headers: Record<string, string>) {
  const { token } = await gateway.admin.createLoginLink({ workspace: 'acme', email: EMAIL });
  const path = '/app/session';
  const answer = await gateway.send({ method: 'POST', path, token, headers });
  return { status: answer.status, cookie: String(answer.headers['set-cookie']) };
}

const serversOf = async (gateway: GatewayHarness) =>
  (await gateway.send({ path: '/api/v1/openapi.json' })).body.servers.map(({ url }: { url: string }) => url);

const SECURE = /^__Host-tocsin=tcn_\w+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure$/;

describe('with a public address behind a proxy that names the workspace', () => {
  const env = { PUBLIC_URL: 'https://tocsin.example.org', TRUSTED_PROXIES: '127.0.0.0/8' };

  test('cookies are for HTTPS, and only the origin of the address may use them', async () => {
    const gateway = await openFor(env);
    const { status, cookie } = await signIn(gateway, { ...BEHIND_PROXY, Origin: env.PUBLIC_URL });
    expect([status, cookie]).toEqual([204, expect.stringMatching(SECURE)]);
    const Cookie = cookie.split(';')[0] ?? '';
    const write = async (Origin: string) =>
      (await gateway.send({ ...WRITE, headers: { ...BEHIND_PROXY, Cookie, Origin } })).status;
    expect(await write(env.PUBLIC_URL)).toBe(201);
    for (const origin of ['http://tocsin.example.org', 'https://acme.localhost', 'http://gateway.internal', 'null'])
      expect([origin, await write(origin)]).toEqual([origin, 403]);
  });

  test('the provider of the workspace sends people back to it', async () => {
    const redirectUri = `${env.PUBLIC_URL}/app/oidc/callback`;
    const provider = await startProvider([redirectUri]);
    const gateway = await startGatewayHarness({
      env: { ...env, WEBHOOK_TEST_RECEIVERS: `localhost:${provider.port}` },
      overrides: { ca: provider.ca },
    });
    try {
      await gateway.admin.connectOidc({
        ...{ workspace: 'acme', issuer: provider.issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret },
        ...{ createsViewers: true, trustsEmail: false, groups: null, secretKeys: TEST_SECRET_KEYS },
      });
      provider.signIn({ sub: 'ana', email: EMAIL, email_verified: true, name: 'Ana' });
      const begun = await gateway.send({ path: '/app/oidc', headers: BEHIND_PROXY });
      const [flow = ''] = String(begun.headers['set-cookie']).split(';');
      expect(flow).toMatch(/^__Host-tocsin-oidc=/);
      const back = await visitProvider(begun.headers.location ?? '', provider.ca);
      expect(`${back.origin}${back.pathname}`).toBe(redirectUri);
      const path = back.pathname + back.search;
      const { status, headers } = await gateway.send({ path, headers: { ...BEHIND_PROXY, Cookie: flow } });
      expect([status, headers.location]).toEqual([303, '/app/']);
      expect(headers['set-cookie']?.[0]).toMatch(SECURE);
    } finally {
      await gateway.close();
      await provider.stop();
    }
  });

  test('the description and the answer for unknown hosts name it', async () => {
    const gateway = await openFor(env);
    expect(await serversOf(gateway)).toEqual(['https://tocsin.example.org']);
    const { body } = await gateway.send({ path: '/api/v1/incidents', host: 'nobody.localhost' });
    expect(body.message).toContain('The host of a workspace is tocsin.example.org,');
  });
});

test('a public address may name the workspace, and be without TLS', async () => {
  const gateway = await openFor({ PUBLIC_URL: 'http://{workspace}.Tocsin.internal:8080/', BASE_DOMAIN: 'internal' });
  const Host = 'acme.internal';
  const signedIn = await signIn(gateway, { Host, Origin: 'http://acme.tocsin.internal:8080' });
  expect(signedIn).toMatchObject({ status: 204, cookie: expect.stringMatching(/^tocsin=tcn_\w+(?!.*Secure)/) });
  expect((await signIn(gateway, { Host, Origin: 'http://other.tocsin.internal:8080' })).status).toBe(403);
  expect(await serversOf(gateway)).toEqual(['http://{workspace}.tocsin.internal:8080']);
  const { body } = await gateway.send({ path: '/api/v1/incidents', host: 'nobody.internal' });
  expect(body.message).toContain('<workspace>.tocsin.internal:8080,');
});

test('without one, the host that a proxy sends is the address', async () => {
  const gateway = await openFor({ TRUSTED_PROXIES: '127.0.0.0/8' });
  const { status, cookie } = await signIn(gateway, { ...BEHIND_PROXY, Origin: 'http://acme.localhost' });
  expect([status, cookie]).toEqual([204, expect.stringMatching(/^tocsin=tcn_\w+(?!.*Secure)/)]);
  expect((await signIn(gateway, { ...BEHIND_PROXY, Origin: 'https://tocsin.example.org' })).status).toBe(403);
  expect(await serversOf(gateway)).toEqual(['http://{workspace}.localhost:0']);
});

test('on this machine, the first server of the description has a name that resolves everywhere', async () => {
  const gateway = await openFor({ DEFAULT_WORKSPACE: 'acme' });
  expect(await serversOf(gateway)).toEqual(['http://localhost:0', 'http://{workspace}.localhost:0']);
});
