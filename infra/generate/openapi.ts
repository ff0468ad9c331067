import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type AnyDocumentation,
  type Contract,
  type Contracts,
  openApiDocument,
  type WebhookDocumentation,
} from '@tocsin/http';
import { APPS, type ServiceName } from '../apps.ts';
import { ROOT } from '../environment.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

interface DocumentationModule {
  documentation: Readonly<Record<string, AnyDocumentation>>;
  /** Only of the service that sends webhooks. */
  webhooks?: Readonly<Record<string, WebhookDocumentation>>;
}

/** A service's API description, from its `src/http/contracts.ts` and `src/http/documentation.ts`. */
export function openApiFile(service: ServiceName) {
  const { folder } = APPS[service];
  const load = async (file: string): Promise<unknown> =>
    import(pathToFileURL(path.join(ROOT, folder, 'src/http', file)).href);
  return {
    file: `${folder}/openapi.json`,
    generate: async () => {
      const { contracts } = (await load('contracts.ts')) as { contracts: Contracts };
      const { documentation, webhooks } = (await load('documentation.ts')) as DocumentationModule;
      const sorted = Object.fromEntries(Object.entries(contracts).sort(([, a], [, b]) => byPath(a, b)));
      const options = webhooks === undefined ? { documentation } : { documentation, webhooks };
      return `${JSON.stringify(openApiDocument(service, sorted, options), undefined, 2)}\n`;
    },
  };
}

function byPath(a: Contract, b: Contract): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return METHODS.indexOf(a.method) - METHODS.indexOf(b.method);
}
