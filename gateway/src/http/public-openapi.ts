import { isDeepStrictEqual } from 'node:util';
import { EXTENSIONS, SCOPES } from '@tocsin/http';
import type { Guides } from './guides.ts';
import type { ApiResponse, ApiDescription, ApiHeader, ApiOperation } from './api-description.ts';

const DESCRIPTION = 'Incident management for many workspaces. Every workspace has its own host and its own API tokens.';

const SECURITY = `An API token: \`Authorization: Bearer tcs_…\`. Each operation needs one of the token's scopes, in \`${EXTENSIONS.scope}\`: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}.`;

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
export function publicOpenApi(
  descriptions: readonly ApiDescription[],
  { server, guides }: { server: string; guides: Guides },
): ApiDescription {
  const paths = mergeOperations(descriptions.map((description) => description.paths));
  const webhooks = Object.assign({}, ...descriptions.map((description) => description.webhooks ?? {})) as NonNullable<
    ApiDescription['webhooks']
  >;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tocsin',
      version: '1',
      description: DESCRIPTION,
      contact: { name: 'The people who run this installation' },
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: server, variables: { workspace: { default: 'acme', description: "The workspace's slug" } } }],
    ...tagsOf([paths, webhooks], guides),
    security: [{ token: [] }],
    paths,
    ...(Object.keys(webhooks).length > 0 && { webhooks }),
    components: {
      schemas: mergeComponents(descriptions.map(({ components }) => components?.schemas ?? {})),
      examples: mergeComponents(descriptions.map(({ components }) => components?.examples ?? {})),
      headers: { ...mergeComponents(descriptions.map(({ components }) => components?.headers ?? {})), ...HEADERS },
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: SECURITY } },
    },
  };
}

type Operations = ApiDescription['paths'];

function mergeOperations(records: readonly Operations[]): Operations {
  const merged: Operations = {};
  for (const [path, methods] of records.flatMap((record) => Object.entries(record))) {
    for (const [method, operation] of Object.entries(methods)) {
      if (merged[path]?.[method] !== undefined) throw new Error(`two services describe ${method} ${path}`);
      merged[path] = { ...merged[path], [method]: publicOperation(operation) };
    }
  }
  return merged;
}

/** The tags that the operations use, after the guides. */
function tagsOf(records: readonly Operations[], { guides, resources }: Guides) {
  const operations = records.flatMap((record) => Object.values(record).flatMap((methods) => Object.values(methods)));
  const used = [...new Set(operations.flatMap(({ tags }) => tags ?? []))];
  const texts = new Map(resources.map(({ name, description }) => [name, description]));
  const order = [...resources.map(({ name }) => name).filter((name) => used.includes(name)), ...used];
  const names = [...new Set(order)];
  return {
    tags: [...guides, ...names.map((name) => ({ name, description: texts.get(name) ?? name }))],
    'x-tagGroups': [
      { name: 'Guides', tags: guides.map(({ name }) => name) },
      { name: 'Operations', tags: names },
    ],
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
