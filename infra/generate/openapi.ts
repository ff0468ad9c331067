import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyDocumentation, Contracts, WebhookDocumentation } from '@tocsin/http';
import { type AppName, APPS } from '../installation/apps.ts';
import { ROOT } from '../installation/environment.ts';
import { jsonText } from './formatted.ts';
import { openApiDocument } from './openapi-document.ts';

interface DocumentationModule {
  documentation: Readonly<Record<string, AnyDocumentation>>;
  /** Only of the service that sends webhooks. */
  webhooks?: Readonly<Record<string, WebhookDocumentation>>;
}

/**
 * The API description of the gateway or a service, from its `src/http/contracts.ts` and `src/http/documentation.ts`. The operations are in the
 * order of the contracts, in which their examples work.
 */
export function openApiFile(service: AppName) {
  const { folder } = APPS[service];
  const load = async (file: string): Promise<unknown> =>
    import(pathToFileURL(path.join(ROOT, folder, 'src/http', file)).href);
  return {
    file: `${folder}/openapi.json`,
    generate: async () => {
      const { contracts } = (await load('contracts.ts')) as { contracts: Contracts };
      const { documentation, webhooks } = (await load('documentation.ts')) as DocumentationModule;
      const options = webhooks === undefined ? { documentation } : { documentation, webhooks };
      return jsonText(openApiDocument(service, contracts, options));
    },
  };
}
