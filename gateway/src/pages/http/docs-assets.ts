import { readFileSync } from 'node:fs';
import { type StaticContent, staticContent } from './static-content.ts';

const TYPES = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
} as const;

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
      const extension = file.split('.').at(-1) as keyof typeof TYPES;
      const content = staticContent(() => readFileSync(file), { type: TYPES[extension], caching: 'immutable' });
      const address = `/docs/assets/${name}.${content.digest}.${extension}`;
      assets.set(address, content);
      return address;
    },
  };
}
