import type { ServerResponse } from 'node:http';
import { sendJson } from '@tocsin/http';
import { type Dependency, readiness } from '@tocsin/runtime';
import type { DocsPage } from './docs/page.ts';

/** What anybody may read, at any host. */
export interface OpenPage {
  /** Counts against the reader's budget; whoever watches over us must not be turned away. */
  limited: boolean;
  show(response: ServerResponse): Promise<void>;
}

/** By path: health, readiness, the API's description and its readable form. */
export function openPages(options: {
  dependencies: readonly Dependency[];
  description: object;
  docs: DocsPage;
}): ReadonlyMap<string, OpenPage> {
  const description = JSON.stringify(options.description);
  return new Map<string, OpenPage>([
    ['/healthz', { limited: false, show: async (response) => sendJson(response, 200, { status: 'ok' }) }],
    [
      '/readyz',
      {
        limited: false,
        show: async (response) => {
          const { ready, dependencies } = await readiness(options.dependencies);
          sendJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'unready', dependencies });
        },
      },
    ],
    [
      '/api/v1/openapi.json',
      {
        limited: true,
        show: async (response) =>
          sendDocument(response, { type: 'application/json; charset=utf-8', text: description }),
      },
    ],
    [
      '/docs',
      {
        limited: true,
        show: async (response) => {
          response.setHeader('Content-Security-Policy', options.docs.policy);
          response.setHeader('Referrer-Policy', 'no-referrer');
          sendDocument(response, { type: 'text/html; charset=utf-8', text: options.docs.html });
        },
      },
    ],
  ]);
}

function sendDocument(response: ServerResponse, { type, text }: { type: string; text: string }): void {
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.setHeader('Cache-Control', 'no-cache');
  response.end(text);
}
