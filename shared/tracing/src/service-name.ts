import path from 'node:path';

/**
 * The name of the process in traces, by its main module: `tocsin-incident` for `services/incident/src/main.ts`, and
 * `tocsin` for one that runs all apps.
 */
export function serviceNameOf(mainModule: string): string {
  const app = /(?:^|\/)(?:services\/([^/]+)|(gateway))\/src\/main\.ts$/.exec(mainModule.split(path.sep).join('/'));
  const name = app?.[1] ?? app?.[2];
  return name === undefined ? 'tocsin' : `tocsin-${name}`;
}
