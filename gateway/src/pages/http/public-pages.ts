/**
 * `pages` is what the public server sends without a token, at any host: health, readiness, the API description, the
 * reference and the guides at `/docs` and the console at `/app`. A page counts as a request of the workspace of a valid token or
 * session, and otherwise of the client's network (contract: Limits); health, readiness and compressed files with a
 * digest in the name do not count. Pages need no database: without it, they count for the network. Their content is the
 * same for all clients, is compressed at the first request for an encoding, and only the compressed copies stay in
 * memory. `/healthz` refuses when the process no longer works, `/readyz` while it stops or a dependency is missing,
 * which it looks at once a second at most.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { drainOf, sendDraining, sendHealth, sendJson } from '@tocsin/http';
import { type ReadinessCheck, type Readiness, readiness } from '@tocsin/runtime';
import type { ReferencePage } from './reference/page.ts';
import type { StaticContent } from './static-content.ts';

const DESCRIPTION = '/api/v1/openapi.json';

/** Milliseconds. */
const READINESS_TTL = 1_000;

/** Which page a path has. */
export type PublicPages = Pick<ReadonlyMap<string, PublicPage>, 'get' | 'has'>;

/** A page that needs no token, at any host. */
export interface PublicPage {
  /** Counts against a limit. Health checks do not: monitoring must never get 429. */
  limited: boolean | ((request: IncomingMessage) => boolean);
  send(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** A file whose address has its digest. Browsers keep it, and a new one costs nothing: it counts if it is not compressed. */
export const immutableFile = ({ send, isReady }: StaticContent): PublicPage => ({
  limited: (request) => !isReady(request),
  send,
});

/**
 * Health, readiness, the API's description, the API reference, the guides and the console, by path; `/` redirects to the reference, and
 * `/openapi.json`, where many tools look first, to the description.
 */
export function publicPages(options: {
  readinessChecks: readonly ReadinessCheck[];
  /** Whether the process no longer works, so that it has to be restarted. */
  isStuck: () => boolean;
  /** The version of the sources; the commit is shown on the internal server only. */
  version: string;
  sendDescription: PublicPage['send'];
  reference: ReferencePage;
  guides: ReadonlyMap<string, PublicPage>;
  /** The files that both load. */
  assets: ReadonlyMap<string, StaticContent>;
  console: PublicPages;
}): PublicPages {
  const reference: PublicPage = {
    limited: true,
    send: async (_request, response) => {
      options.reference.send(response);
    },
  };
  const { isStuck, version } = options;
  const checkReadiness = cachedReadiness(options.readinessChecks);
  const pages = new Map<string, PublicPage>([
    ['/healthz', { limited: false, send: async (_request, response) => sendHealth(response, isStuck(), { version }) }],
    [
      '/readyz',
      {
        limited: false,
        // The dependencies are shown on the internal server only.
        send: async (request, response) => {
          if (drainOf(request).hasBegun) {
            sendDraining(response);
            return;
          }
          const { ready } = await checkReadiness();
          sendJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'unready' });
        },
      },
    ],
    [DESCRIPTION, { limited: true, send: options.sendDescription }],
    ['/docs', reference],
    ['/docs/', reference],
    ['/', redirectTo('/docs')],
    ['/openapi.json', redirectTo(DESCRIPTION)],
    ...options.guides,
    ...[...options.assets].map(([path, file]): [string, PublicPage] => [path, immutableFile(file)]),
  ]);
  const { console } = options;
  return {
    has: (path) => pages.has(path) || console.has(path),
    get: (path) => pages.get(path) ?? console.get(path),
  };
}

const redirectTo = (location: string): PublicPage => ({
  limited: true,
  send: async (_request, response) => {
    response.writeHead(302, { Location: location, 'Content-Length': 0 }).end();
  },
});

/** Checks the dependencies at most once a second, because this page has no limit. */
function cachedReadiness(checks: readonly ReadinessCheck[]): () => Promise<Readiness> {
  let cached: Promise<Readiness> | undefined;
  return async () => {
    if (cached !== undefined) return cached;
    cached = readiness(checks);
    setTimeout(() => (cached = undefined), READINESS_TTL).unref();
    return cached;
  };
}
