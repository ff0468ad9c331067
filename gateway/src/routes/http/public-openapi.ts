import { SCOPES } from '@tocsin/schemas';
import { ERROR_STATUS, errorResponseName, EXTENSIONS, jsonEqual } from '@tocsin/http';
import type { Guides } from './guides.ts';
import type { ApiResponse, ApiDescription, ApiHeader, ApiOperation } from './api-description.ts';

const descriptionOf = (
  api: string,
) => `Incident management for many workspaces. Every workspace has its own host and its own API tokens.

Five requests, with a token of a workspace in \`TOKEN\`, such as the one that \`make start\` prints:

\`\`\`sh
API=${api}/api/v1
AUTH="Authorization: Bearer $TOKEN"
get() { curl "$API/$1" -H "$AUTH"; }
post() {
  curl "$API/$1" -H "$AUTH" -d "$2" \\
    -H 'Content-Type: application/json'
}
get incidents
post incidents '{"title": "Checkout is down"}'
post incidents/1/timeline '{"body": "Rolled back"}'
post incidents/1/resolve '{}'
get 'events?from=beginning'
\`\`\``;

const SECURITY = `An API token: \`Authorization: Bearer tcs_…\`. Each operation needs a scope of the token, in \`${EXTENSIONS.scope}\`; of several there, one is enough: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}.`;

/** The sample workspace needs no host of its own, which not every client resolves. */
const exampleAddress = (server: string) =>
  server.replace('{workspace}.localhost', 'localhost').replace('{workspace}', WORKSPACE);

const WORKSPACE = 'acme';

/** The URLs of the API, the one to use first; some have the variable `{workspace}`. */
export type ApiServers = readonly [string, ...string[]];

const serverOf = (url: string) => ({
  url,
  ...(url.includes('{workspace}') && {
    description: '`{workspace}` stands for the slug of the workspace',
    // Without a description, which the schema of OpenAPI 3.1.0 misspells.
    variables: { workspace: { default: WORKSPACE } },
  }),
});

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
/** What is too large is refused before it is counted, if its length is announced. */
const TOO_LARGE = errorResponseName(ERROR_STATUS.request_body_too_large, ['request_body_too_large']);
const UNCOUNTED = Object.fromEntries(Object.entries(headerReferences).filter(([name]) => name === 'X-Request-ID'));

/**
 * Merges the descriptions of the services into the public description of the API, which does not name the services.
 * @throws Error when two services describe one path, or one component differently
 */
export function publicOpenApi(
  descriptions: readonly ApiDescription[],
  { servers, guides }: { servers: ApiServers; guides: Guides },
): ApiDescription {
  const paths = mergeOperations(
    descriptions.map((description) => description.paths),
    headerReferences,
  );
  const webhooks = mergeOperations(descriptions.map((description) => description.webhooks ?? {}));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tocsin',
      version: '1',
      description: descriptionOf(exampleAddress(servers[0])),
      contact: { name: 'The people who run this installation' },
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: servers.map(serverOf),
    ...tagsOf([paths, webhooks], guides),
    security: [{ token: [] }],
    paths,
    ...(Object.keys(webhooks).length > 0 && { webhooks }),
    components: {
      schemas: mergeComponents(descriptions.map(({ components }) => components?.schemas ?? {})),
      responses: publicResponses(
        mergeComponents(descriptions.map(({ components }) => components?.responses ?? {})),
        headerReferences,
      ),
      examples: mergeComponents(descriptions.map(({ components }) => components?.examples ?? {})),
      headers: mergeComponents([...descriptions.map(({ components }) => components?.headers ?? {}), HEADERS]),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: SECURITY },
        basic: { type: 'http', scheme: 'basic', description: 'Any user name, and an API token as the password.' },
      },
    },
  };
}

type Operations = ApiDescription['paths'];

/** @param headers those that every response has in addition */
function mergeOperations(records: readonly Operations[], headers?: ApiResponse['headers']): Operations {
  const merged = new Map<string, Operations[string]>();
  for (const [path, methods] of records.flatMap((record) => Object.entries(record))) {
    for (const [method, operation] of Object.entries(methods)) {
      const others = merged.get(path) ?? {};
      if (Object.hasOwn(others, method)) throw new Error(`two services describe ${method} ${path}`);
      merged.set(path, { ...others, [method]: publicOperation(operation, headers) });
    }
  }
  return Object.fromEntries(merged);
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

/** What the public description has of an operation; no service can name another server, for instance. */
const MEMBERS: ReadonlySet<string> = new Set([
  'operationId',
  'summary',
  'description',
  'tags',
  'deprecated',
  'security',
  'parameters',
  'requestBody',
]);

function publicOperation({ responses, ...operation }: ApiOperation, headers: ApiResponse['headers']): ApiOperation {
  const members = Object.entries(operation).filter(
    ([name]) => MEMBERS.has(name) || (name.startsWith('x-') && name !== EXTENSIONS.service),
  );
  return {
    ...(Object.fromEntries(members) as Omit<ApiOperation, 'responses'>),
    responses: publicResponses(responses, headers),
  };
}

const publicResponses = (responses: Readonly<Record<string, ApiResponse>>, headers: ApiResponse['headers']) =>
  Object.fromEntries(
    Object.entries(responses).map(([name, response]) => [
      name,
      publicResponse(response, name.startsWith(TOO_LARGE) ? UNCOUNTED : headers),
    ]),
  );

function publicResponse(
  { $ref, description, content, ...response }: ApiResponse,
  more: ApiResponse['headers'],
): ApiResponse {
  if ($ref !== undefined) return { $ref };
  const headers = { ...response.headers, ...more };
  return {
    ...(description !== undefined && { description }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(content !== undefined && { content }),
  };
}

/** Several services describe the same components, such as `Error`; those of one name are equal. */
function mergeComponents<Value>(records: readonly Record<string, Value>[]): Record<string, Value> {
  const merged = new Map<string, Value>();
  for (const [name, component] of records.flatMap((record) => Object.entries(record))) {
    if (merged.has(name) && !jsonEqual(merged.get(name), component))
      throw new Error(`two services describe ${name} differently`);
    merged.set(name, component);
  }
  return Object.fromEntries([...merged].sort(([a], [b]) => (a < b ? -1 : 1)));
}
