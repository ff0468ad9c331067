import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createServer, request } from 'node:https';
import { createCertificate, loopbackServer } from '@tocsin/testing';
import { Provider } from 'oidc-provider';

export interface Person {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
  groups?: unknown;
}

type Json = Record<string, unknown>;

/** Rewrites what the provider answers, by the end of the path. */
export type Rewriting = Readonly<Record<string, (body: Json) => Json>>;

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The claims of an ID token. */
export const claimsOf = (token: unknown): Json =>
  JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString()) as Json;

/** Signs claims as a provider does, with another key or algorithm. */
export function signClaims(claims: Json, header: { alg: string; kid?: string }, key?: KeyObject | string): string {
  const text = `${encode(header)}.${encode(claims)}`;
  if (key === undefined) return `${text}.`;
  const signature =
    typeof key === 'string' ? createHmac('sha256', key).update(text).digest() : sign('sha256', Buffer.from(text), key);
  return `${text}.${signature.toString('base64url')}`;
}

/** A new key pair of a provider, and the public one as it is published. */
export function newSigningKey(kid: string) {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return { privateKey, publicKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' } };
}

function rewriteAnswer(response: ServerResponse, rewrite: (body: Json) => Json): void {
  const end = response.end.bind(response);
  response.end = ((chunk: unknown) => {
    const text = JSON.stringify(rewrite(JSON.parse(String(chunk)) as Json));
    response.setHeader('Content-Length', Buffer.byteLength(text));
    return end(text);
  }) as typeof response.end;
}

export const CLIENT = { id: 'tocsin', secret: 'a-secret-of-the-client-at-the-provider' };

/** A certified implementation of OpenID Connect on a local port, where `person` is signed in without being asked. */
export async function startProvider(redirectUris: string[], name = 'localhost') {
  const certificate = await createCertificate([name, '127.0.0.1']);
  let person: Person = { sub: 'nobody' };
  /** Whether requests of the gateway are left without a response. */
  let hangs = false;
  let rewriting: Rewriting = {};
  const people = new Map<string, Person>();
  const server = createServer({ key: certificate.key, cert: certificate.cert }, (request, response) => {
    if (hangs) return;
    const [, rewrite] = Object.entries(rewriting).find(([end]) => request.url?.endsWith(end)) ?? [];
    if (rewrite !== undefined) rewriteAnswer(response, rewrite);
    if (!request.url?.startsWith('/interaction/')) {
      void provider.callback()(request, response);
      return;
    }
    people.set(person.sub, person);
    void provider.interactionFinished(request, response, { login: { accountId: person.sub, remember: false } });
  });
  const { port, close } = await loopbackServer(server);
  const issuer = name === 'localhost' ? `https://localhost:${port}` : `https://${name}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: redirectUris }],
    claims: { email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    cookies: { keys: ['a key of the tests'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ ...people.get(id), sub: id }) }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: CLIENT.id, accountId: oidc.session?.accountId ?? '' });
      grant.addOIDCScope('openid email profile groups');
      await grant.save();
      return grant;
    },
  });
  return {
    issuer,
    port,
    ca: certificate.cert,
    signIn: (next: Person) => (person = next),
    /** Until it is called again. */
    rewrite: (next: Rewriting) => (rewriting = next),
    setHanging: (next: boolean) => (hangs = next),
    stop: close,
  };
}

/** Goes through the pages of the provider, and returns the address that it sends the browser back to. */
export async function visitProvider(address: string, ca: string): Promise<URL> {
  const jar = new Map<string, string>();
  let url = new URL(address);
  while (url.hostname === 'localhost') {
    url = await new Promise<URL>((resolve, reject) => {
      const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
      request(url, { ca, headers: { cookie } }, (response) => {
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
