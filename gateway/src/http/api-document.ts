import { setImmediate } from 'node:timers/promises';
import type { Operation } from '../domain/route-table.ts';
import type { ApiDescription } from './api-description.ts';
import type { CheckedDescription } from './check-description.ts';
import type { Guides } from './guides.ts';
import { publicOpenApi } from './public-openapi.ts';
import { parseDescription } from './service-descriptions.ts';

/**
 * Builds the public description of the operations that are routed, as JSON. Requests are handled between its steps.
 * @param options.descriptions one of each service
 * @param options.server the URL of the API, with the variable `{workspace}`
 */
export async function apiDocument(options: {
  descriptions: readonly CheckedDescription[];
  operations: readonly Operation[];
  server: string;
  guides: Guides;
}): Promise<Buffer> {
  const routed = new Set(options.operations);
  const descriptions: ApiDescription[] = [];
  for (const { bytes, operations } of options.descriptions) {
    const ids = new Set(operations.filter((operation) => routed.has(operation)).map(({ id }) => id));
    descriptions.push(withOperations(parseDescription(bytes), ids));
    await setImmediate();
  }
  const document = publicOpenApi(descriptions, { ...options, renames: true });
  await setImmediate();
  return Buffer.from(JSON.stringify(document));
}

const withOperations = (description: ApiDescription, ids: ReadonlySet<string>): ApiDescription => ({
  ...description,
  paths: Object.fromEntries(
    Object.entries(description.paths)
      .map(([path, methods]): [string, ApiDescription['paths'][string]] => [
        path,
        Object.fromEntries(Object.entries(methods).filter(([, { operationId }]) => ids.has(operationId))),
      ])
      .filter(([, methods]) => Object.keys(methods).length > 0),
  ),
});
