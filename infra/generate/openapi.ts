import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Contract, type Contracts, openApiDocument } from '@tocsin/http';
import { APPS, type ServiceName } from '../apps.ts';
import { ROOT } from '../environment.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** A service's API description, from its contracts in `src/http/contracts.ts`. */
export function openApiFile(service: ServiceName) {
  const { folder } = APPS[service];
  return {
    file: `${folder}/openapi.json`,
    generate: async () => {
      const module = pathToFileURL(path.join(ROOT, folder, 'src/http/contracts.ts')).href;
      const { contracts } = (await import(module)) as { contracts: Contracts };
      const sorted = Object.fromEntries(Object.entries(contracts).sort(([, a], [, b]) => byPath(a, b)));
      return `${JSON.stringify(openApiDocument(service, sorted), undefined, 2)}\n`;
    },
  };
}

function byPath(a: Contract, b: Contract): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return METHODS.indexOf(a.method) - METHODS.indexOf(b.method);
}
