import { createServer } from 'node:https';
import { createCertificate, loopbackServer } from '@tocsin/testing';
import { Provider } from 'oidc-provider';

export interface Person {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
}

export const CLIENT = { id: 'tocsin', secret: 'a-secret-of-the-client-at-the-provider' };

/** A certified implementation of OpenID Connect on a local port, where `person` is signed in without being asked. */
export async function startProvider(redirectUris: string[]) {
  const certificate = await createCertificate(['localhost', '127.0.0.1']);
  let person: Person = { sub: 'nobody' };
  /** Whether requests of the gateway are left without a response. */
  let hangs = false;
  const people = new Map<string, Person>();
  const server = createServer({ key: certificate.key, cert: certificate.cert }, (request, response) => {
    if (hangs) return;
    if (!request.url?.startsWith('/interaction/')) {
      void provider.callback()(request, response);
      return;
    }
    people.set(person.sub, person);
    void provider.interactionFinished(request, response, { login: { accountId: person.sub, remember: false } });
  });
  const { port, close } = await loopbackServer(server);
  const issuer = `https://localhost:${port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: redirectUris }],
    claims: { email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['a key of the tests'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ ...people.get(id), sub: id }) }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: CLIENT.id, accountId: oidc.session?.accountId ?? '' });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  return {
    issuer,
    port,
    ca: certificate.cert,
    signIn: (next: Person) => (person = next),
    setHanging: (next: boolean) => (hangs = next),
    stop: close,
  };
}
