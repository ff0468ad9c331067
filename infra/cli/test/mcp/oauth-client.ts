import { createServer, request } from 'node:http';
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { httpClient, loopbackServer } from '@tocsin/testing';

/** The proxy of an installation: it sends `/mcp` of the workspace's host to the server for agents. */
export async function startFront(addresses: { mcp: () => string; gateway: string }) {
  const server = createServer((incoming, response) => {
    const { method, url = '', headers } = incoming;
    const target = /^\/mcp(?:\/|$)/.test(url) ? addresses.mcp() : addresses.gateway;
    const outgoing = request(new URL(url, target), { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  const { port, close } = await loopbackServer(server);
  return { url: `http://localhost:${port}`, stop: close };
}

/** What a client of the SDK keeps, and where it has sent its person. */
export function oauthClient() {
  const kept: {
    client?: StoredOAuthClientInformation;
    tokens?: StoredOAuthTokens;
    verifier?: string;
    sentTo?: URL;
    discovery?: OAuthDiscoveryState;
  } = {};
  const provider: OAuthClientProvider = {
    redirectUrl: 'http://localhost:7777/callback',
    clientMetadata: { client_name: 'An agent of the SDK', redirect_uris: ['http://localhost:7777/callback'] },
    state: () => 'a state',
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (url) => void (kept.sentTo = url),
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier ?? '',
    invalidateCredentials: () => void delete kept.tokens,
    discoveryState: () => kept.discovery,
    saveDiscoveryState: (discovery) => void (kept.discovery = discovery),
  };
  return { provider, kept };
}

/** Signs a person in, and allows in the console what the address asks for. Returns the address that the client is sent to. */
export async function allow({ origin, search }: URL, token: string): Promise<URL> {
  const site = httpClient(origin, { 'Sec-Fetch-Site': 'same-origin' });
  const { headers } = await site.post('/app/session', undefined, { Authorization: `Bearer ${token}` });
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
  const { body } = await site.post(`/oauth/consent${search}&decision=allow`, undefined, { Cookie: cookie });
  return new URL(body.redirect_to);
}
