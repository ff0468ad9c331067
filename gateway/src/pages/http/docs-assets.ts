import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type StaticContent, staticContent } from './static-content.ts';

const TYPES = new Map([
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
]);

export interface DocsAssets {
  /** The files that pages below `/docs` load, by path. The paths contain digests, so the content of a path never changes. */
  assets: Map<string, StaticContent>;
  /** @returns the path of a file */
  add(name: string, file: string): string;
}

export function docsAssets(): DocsAssets {
  const assets = new Map<string, StaticContent>();
  return {
    assets,
    add: (name, file) => {
      const extension = path.extname(file);
      const type = TYPES.get(extension) ?? 'application/octet-stream';
      const content = staticContent(() => readFileSync(file), { type, caching: 'immutable' });
      const address = `/docs/assets/${name}.${content.digest}${extension}`;
      assets.set(address, content);
      return address;
    },
  };
}
