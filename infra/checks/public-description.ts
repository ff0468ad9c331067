import type { ApiDescription } from '../../gateway/src/http/api-description.ts';
import { readGuides } from '../../gateway/src/http/guides.ts';
import { publicOpenApi } from '../../gateway/src/http/public-openapi.ts';
import { readDescriptions } from '../../gateway/src/http/service-descriptions.ts';
import { SERVICE_NAMES } from '../apps.ts';

/** The public API description as the gateway serves it, for any installation. */
export async function readPublicDescription(): Promise<ApiDescription> {
  return publicOpenApi(await readDescriptions(SERVICE_NAMES), {
    server: 'https://{workspace}.tocsin.example',
    guides: await readGuides(),
  });
}
