import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { openApiDocument, type Route } from '@tocsin/http';
import type { Artefact } from './artefact.ts';
import { untouchable } from './untouchable.ts';

const SERVICES = path.resolve(import.meta.dirname, '../../services');
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** A service's API description, from the routes that it declares in `src/http/routes.ts`. */
export function openApiArtefact(service: string): Artefact {
  return {
    file: `services/${service}/openapi.json`,
    make: async () => {
      const module = pathToFileURL(path.join(SERVICES, service, 'src/http/routes.ts')).href;
      const { routes } = (await import(module)) as { routes: (parts: unknown) => Route[] };
      const declared = routes(untouchable('the parts of routes()')).sort(byPath);
      return `${JSON.stringify(openApiDocument(service, declared), undefined, 2)}\n`;
    },
  };
}

function byPath(a: Route, b: Route): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return METHODS.indexOf(a.method) - METHODS.indexOf(b.method);
}
