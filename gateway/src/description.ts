import type { ApiDescription } from './routes/http/api-description.ts';
import { readBundledApi } from './routes/http/bundled-api.ts';
import { publicOpenApi } from './routes/http/public-openapi.ts';

export type { ApiDescription, ApiOperation, ApiSchema } from './routes/http/api-description.ts';
export type { Guides } from './routes/http/guides.ts';
export type { GuideElement, GuideNode, GuidePage, GuidePages } from './pages/http/guides/guide-pages.ts';

/**
 * The public API description of this release.
 * @param services the names of the services
 * @param server the URL of the API, with the variable `{workspace}`
 * @throws Error when two services describe one path or one name differently
 */
export async function readPublicDescription(services: readonly string[], server: string): Promise<ApiDescription> {
  const { descriptions, guides } = await readBundledApi(services);
  return publicOpenApi(descriptions, { servers: [server], guides });
}
