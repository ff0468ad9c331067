import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DomainError } from '@tocsin/http';
import { ownProperty } from '@tocsin/runtime';
import { immutableFile, type PublicPage, type PublicPages } from './public-pages.ts';
import { SIGN_IN_PATHS } from '../../sign-in/http/session-requests.ts';
import { staticContent } from './static-content.ts';

/** What `infra/console` builds. */
const BUILT = path.join(import.meta.dirname, '../../../console/dist');

const TYPES = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The console: one page for all of its paths, and the files that it loads, whose names have digests. */
export function consolePages(folder = BUILT): PublicPages {
  const isBuilt = existsSync(path.join(folder, 'index.html'));
  const assets = new Map<string, PublicPage>();
  for (const name of isBuilt ? readdirSync(path.join(folder, 'assets')) : []) {
    const type = ownProperty(TYPES, path.extname(name)) ?? 'application/octet-stream';
    const read = () => readFileSync(path.join(folder, 'assets', name));
    assets.set(`/app/assets/${name}`, immutableFile(staticContent(read, { type, caching: 'immutable' })));
  }
  const page = isBuilt ? indexPage(folder) : notBuilt;
  const isPage = (target: string) =>
    target === '/app' ||
    (target.startsWith('/app/') && !SIGN_IN_PATHS.has(target) && !target.startsWith('/app/assets/'));
  return {
    has: (target) => assets.has(target) || isPage(target),
    get: (target) => assets.get(target) ?? (isPage(target) ? page : undefined),
  };
}

function indexPage(folder: string): PublicPage {
  const read = () => readFileSync(path.join(folder, 'index.html'));
  const content = staticContent(read, { type: 'text/html; charset=utf-8', caching: 'revalidated' });
  return {
    limited: true,
    send: async (request, response) => {
      response.setHeader('Content-Security-Policy', SECURITY_POLICY);
      response.setHeader('Referrer-Policy', 'no-referrer');
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      await content.send(request, response);
    },
  };
}

const notBuilt: PublicPage = {
  limited: true,
  send: async () => {
    throw new DomainError('not_found', 'The console is not built: run npm run build:console');
  },
};
