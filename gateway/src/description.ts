import type { ApiDescription } from './http/api-description.ts';
import { readBakedApi } from './http/baked-api.ts';
import { publicOpenApi } from './http/public-openapi.ts';
import { parseDescription } from './http/service-descriptions.ts';

export type { ApiDescription, ApiOperation, ApiSchema } from './http/api-description.ts';
export type { Guides } from './http/guides.ts';

/**
 * The public API description of one release, from the generated files. A running gateway follows its services instead.
 * @param services the names of the services
 * @param server the URL of the API, with the variable `{workspace}`
 * @throws Error when two services describe one path or one name differently
 */
export async function readPublicDescription(services: readonly string[], server: string): Promise<ApiDescription> {
  const { descriptions, guides } = await readBakedApi(services);
  return publicOpenApi(
    descriptions.map(({ bytes }) => parseDescription(bytes)),
    { server, guides },
  );
}
