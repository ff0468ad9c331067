import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { EXTENSIONS, PREREQUISITES, SCOPES } from '@tocsin/http';
import { z } from 'zod';
import type { Operation } from '../domain/route-table.ts';
import type { ApiDescription } from './api-description.ts';

const SERVICES = path.join(import.meta.dirname, '../../../services');

/**
 * Reads the API descriptions that are generated from the services' contracts.
 * @throws Error naming the file that cannot be read
 */
export async function readDescriptions(services: readonly string[]): Promise<ApiDescription[]> {
  return Promise.all(
    services.map(async (service) => {
      const file = path.join(SERVICES, service, 'openapi.json');
      try {
        return JSON.parse(await readFile(file, 'utf8')) as ApiDescription;
      } catch (error) {
        throw new Error(`services/${service}/openapi.json cannot be read: run npm run generate`, { cause: error });
      }
    }),
  );
}

const extensions = z.object({
  operationId: z.string(),
  [EXTENSIONS.service]: z.string(),
  [EXTENSIONS.scope]: z.enum(SCOPES),
  [EXTENSIONS.needs]: z.array(z.enum(PREREQUISITES)),
  [EXTENSIONS.deadline]: z.number().positive(),
  [EXTENSIONS.cost]: z
    .object({ base: z.number(), parameters: z.record(z.string(), z.number()).default({}) })
    .optional(),
  [EXTENSIONS.deprecation]: z.object({ since: z.string(), sunset: z.string(), successor: z.string() }).optional(),
});

/** @throws Error for an operation without its service, scope or prerequisites */
export function operationsOf(descriptions: readonly ApiDescription[]): Operation[] {
  return descriptions.flatMap(({ paths }) =>
    Object.entries(paths).flatMap(([pathname, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const read = extensions.parse(operation);
        return {
          id: read.operationId,
          method: method.toUpperCase(),
          path: pathname,
          service: read[EXTENSIONS.service],
          scope: read[EXTENSIONS.scope],
          needs: read[EXTENSIONS.needs],
          deadline: 1_000 * read[EXTENSIONS.deadline],
          cost: read[EXTENSIONS.cost],
          deprecation: read[EXTENSIONS.deprecation],
        };
      }),
    ),
  );
}
