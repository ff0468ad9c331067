import { OpenApiGeneratorV31, OpenAPIRegistry, type RouteConfig } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { ERROR_STATUS, type ErrorCode } from './errors.ts';
import { IDEMPOTENCY_HEADER, IF_VERSION_HEADER, VERSION_HEADER } from './preconditions.ts';
import type { Route } from './route.ts';

const errorReply = z
  .object({
    code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    field: z.string().optional(),
    details: z.record(z.string(), z.unknown()).optional(),
    request_id: z.string(),
  })
  .meta({ id: 'Error' });

/** The extensions that the gateway's route table is read from. */
export const EXTENSIONS = {
  service: 'x-tocsin-service',
  scope: 'x-tocsin-scope',
  needs: 'x-tocsin-prerequisites',
  deprecation: 'x-tocsin-deprecation',
} as const;

/** A service's routes as an OpenAPI 3.1 document; deterministic, so that a stale one shows. */
export function openApiDocument(service: string, routes: readonly Route[]) {
  const registry = new OpenAPIRegistry();
  for (const route of routes) registry.registerPath(operation(service, route));
  return new OpenApiGeneratorV31(registry.definitions, { sortComponents: 'alphabetically' }).generateDocument({
    openapi: '3.1.0',
    info: { title: `Tocsin: ${service}`, version: '1' },
  });
}

function operation(service: string, route: Route): RouteConfig {
  const json = (schema: z.ZodType) => ({ 'application/json': { schema } });
  const headers = z.object({
    ...(route.idempotent === true && { [IDEMPOTENCY_HEADER]: z.string().min(1).max(128).optional() }),
    ...(route.precondition === true && { [IF_VERSION_HEADER]: z.int().min(1) }),
  });
  return {
    method: route.method,
    path: route.path,
    operationId: route.id,
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    tags: [route.tag],
    ...(route.deprecated !== undefined && { deprecated: true, [EXTENSIONS.deprecation]: route.deprecated }),
    security: [{ token: [] }],
    [EXTENSIONS.service]: service,
    [EXTENSIONS.scope]: route.scope,
    [EXTENSIONS.needs]: route.needs ?? [],
    request: {
      ...(route.params !== undefined && { params: route.params }),
      ...(route.query !== undefined && { query: route.query }),
      headers,
      ...(route.body !== undefined && { body: { required: route.bodyOptional !== true, content: json(route.body) } }),
    },
    responses: {
      [route.reply.status]: {
        description: 'Success',
        ...(route.reply.versioned === true && { headers: z.object({ [VERSION_HEADER]: z.int().min(1) }) }),
        ...(route.reply.body !== undefined && { content: json(route.reply.body) }),
      },
      default: { description: 'Refusal or failure', content: json(errorReply) },
    },
  };
}
