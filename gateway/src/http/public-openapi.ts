import { isDeepStrictEqual } from 'node:util';
import { EXTENSIONS } from '@tocsin/http';
import type { ApiResponse, ApiDescription, ApiHeader, ApiOperation } from './api-description.ts';

const DESCRIPTION = 'Incident management for many workspaces. Every workspace has its own host and its own API tokens.';

/** The headers that the gateway adds to every response. */
const HEADERS: Record<string, ApiHeader> = {
  'X-Request-ID': { description: 'Identifies the request in the logs', schema: { type: 'string' } },
  'X-RateLimit-Limit': { description: 'The limit of requests per minute', schema: { type: 'integer', minimum: 1 } },
  'X-RateLimit-Remaining': { description: 'Requests left in this window', schema: { type: 'integer', minimum: 0 } },
  'X-RateLimit-Reset': { description: 'Seconds until the window ends', schema: { type: 'integer', minimum: 1 } },
};

const headerReferences = Object.fromEntries(
  Object.keys(HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

/**
 * Merges the descriptions of the services into the public description of the API, which does not name the services.
 * @throws Error when two services describe one path or one name differently
 */
export function publicOpenApi(descriptions: readonly ApiDescription[], server: string): ApiDescription {
  const schemas = mergeComponents(descriptions.map(({ components }) => components?.schemas ?? {}));
  const paths: ApiDescription['paths'] = {};
  for (const description of descriptions) {
    for (const [path, methods] of Object.entries(description.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        if (paths[path]?.[method] !== undefined) throw new Error(`two services describe ${method} ${path}`);
        paths[path] = { ...paths[path], [method]: publicOperation(operation) };
      }
    }
  }
  const tags = new Set(
    Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ tags }) => tags ?? [])),
  );
  return {
    openapi: '3.1.0',
    info: { title: 'Tocsin', version: '1', description: DESCRIPTION },
    servers: [{ url: server, variables: { workspace: { default: 'acme', description: "The workspace's slug" } } }],
    tags: [...tags].map((name) => ({ name })),
    security: [{ token: [] }],
    paths,
    components: {
      schemas,
      headers: HEADERS,
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'An API token: tcs_…' } },
    },
  };
}

function publicOperation(operation: ApiOperation): ApiOperation {
  const { [EXTENSIONS.service]: _, responses, ...rest } = operation;
  return {
    ...rest,
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, withHeaders(response)]),
    ),
  };
}

const withHeaders = (response: ApiResponse): ApiResponse => ({
  ...response,
  headers: { ...response.headers, ...headerReferences },
});

/** Several services describe the same schemas, such as `Error`; their descriptions must be equal. */
function mergeComponents<Value>(records: readonly Record<string, Value>[]): Record<string, Value> {
  const merged: Record<string, Value> = {};
  for (const [name, value] of records.flatMap((record) => Object.entries(record))) {
    if (Object.hasOwn(merged, name) && !isDeepStrictEqual(merged[name], value)) {
      throw new Error(`two services describe ${name} differently`);
    }
    merged[name] = value;
  }
  return Object.fromEntries(Object.entries(merged).sort(([a], [b]) => (a < b ? -1 : 1)));
}
