import type { ApiDescription } from './http/api-description.ts';
import { readGuides } from './http/guides.ts';
import { publicOpenApi } from './http/public-openapi.ts';
import { readDescriptions } from './http/service-descriptions.ts';

export type { ApiDescription, ApiOperation, ApiSchema } from './http/api-description.ts';
export type { Guides } from './http/guides.ts';

/**
 * The public API description, from the generated files.
 * @param services the names of the services
 * @param server the URL of the API, with the variable `{workspace}`
 */
export async function readPublicDescription(services: readonly string[], server: string): Promise<ApiDescription> {
  return publicOpenApi(await readDescriptions(services), { server, guides: await readGuides() });
}
