import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { DocsAssets } from '../docs-assets.ts';

export interface ReferencePage {
  send(response: ServerResponse): void;
}

/** A single file that includes all of Scalar's dependencies. */
const SCALAR = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@scalar/api-reference')),
  'browser/standalone.js',
);

const FILES = {
  scalar: SCALAR,
  policy: path.join(import.meta.dirname, 'policy.js'),
  start: path.join(import.meta.dirname, 'start.js'),
  style: path.join(import.meta.dirname, 'style.css'),
  icon: path.join(import.meta.dirname, 'icon.svg'),
} as const;
type FileName = keyof typeof FILES;

/** The API reference for people: Scalar, with all its files from this origin. */
export function referencePage(docs: DocsAssets): ReferencePage {
  const add = (name: FileName) => docs.add(name, FILES[name]);
  const addresses: Addresses = {
    policy: add('policy'),
    scalar: add('scalar'),
    start: add('start'),
    style: add('style'),
    icon: add('icon'),
  };
  return {
    send: (response) => {
      const nonce = randomBytes(16).toString('base64');
      const html = render(addresses, nonce);
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.setHeader('Content-Length', Buffer.byteLength(html));
      response.setHeader('Content-Security-Policy', securityPolicy(nonce));
      response.setHeader('Referrer-Policy', 'no-referrer');
      response.setHeader('Cache-Control', 'no-store');
      response.end(html);
    },
  };
}

type Addresses = Record<FileName, string>;

const securityPolicy = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const render = ({ policy, scalar, start, style, icon }: Addresses, nonce: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta property="csp-nonce" content="${nonce}" />
    <title>Tocsin API</title>
    <link rel="icon" href="${icon}" />
    <link rel="stylesheet" href="${style}" />
    <script src="${policy}" nonce="${nonce}"></script>
    <script defer src="${scalar}"></script>
    <script defer src="${start}"></script>
  </head>
  <body>
    <header class="tocsin-header">
      <a class="tocsin-brand" href="/docs"><img src="${icon}" alt="" width="20" height="20" />Tocsin</a>
      <nav aria-label="Tocsin"><a href="/docs/guides">Guides</a> <a href="/api/v1/openapi.json">OpenAPI</a></nav>
      <label><input type="checkbox" id="keep-token" />Keep token in this browser</label>
    </header>
    <div id="reference"></div>
    <noscript><p>The API reference needs JavaScript; the OpenAPI description (see the link above) does not.</p></noscript>
  </body>
</html>
`;
