import { OpenApiGeneratorV31, OpenAPIRegistry, type RouteConfig } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { ERROR_STATUS, type ErrorCode } from './errors.ts';
import { IDEMPOTENCY_HEADER, IF_VERSION_HEADER, VERSION_HEADER } from './preconditions.ts';
import { type Contract, type Contracts, DEFAULT_DEADLINE } from './contract.ts';

const errorReply = z
  .object({
    code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    field: z.string().optional(),
    details: z.record(z.string(), z.unknown()).optional(),
    request_id: z.string(),
  })
  .meta({ id: 'Error' });

/** The OpenAPI extensions from which the gateway builds its route table. */
export const EXTENSIONS = {
  service: 'x-tocsin-service',
  scope: 'x-tocsin-scope',
  needs: 'x-tocsin-prerequisites',
  deprecation: 'x-tocsin-deprecation',
  deadline: 'x-deadline-seconds',
  cost: 'x-tocsin-cost',
} as const;

/** Builds the OpenAPI 3.1 document of a service's contracts, in their order. */
export function openApiDocument(service: string, contracts: Contracts) {
  const registry = new OpenAPIRegistry();
  for (const [id, contract] of Object.entries(contracts)) registry.registerPath(operation(service, id, contract));
  return new OpenApiGeneratorV31(registry.definitions, { sortComponents: 'alphabetically' }).generateDocument({
    openapi: '3.1.0',
    info: { title: `Tocsin: ${service}`, version: '1' },
  });
}

function operation(service: string, id: string, contract: Contract): RouteConfig {
  const json = (schema: z.ZodType) => ({ 'application/json': { schema } });
  const headers = z.object({
    ...(contract.idempotent === true && { [IDEMPOTENCY_HEADER]: z.string().min(1).max(128).optional() }),
    ...(contract.precondition === true && { [IF_VERSION_HEADER]: z.int().min(1) }),
  });
  return {
    method: contract.method,
    path: contract.path,
    operationId: id,
    summary: contract.summary,
    ...(contract.description !== undefined && { description: contract.description }),
    tags: [contract.tag],
    ...(contract.deprecated !== undefined && { deprecated: true, [EXTENSIONS.deprecation]: contract.deprecated }),
    security: [{ token: [] }],
    [EXTENSIONS.service]: service,
    [EXTENSIONS.scope]: contract.scope,
    [EXTENSIONS.needs]: contract.needs ?? [],
    [EXTENSIONS.deadline]: (contract.deadline ?? DEFAULT_DEADLINE) / 1_000,
    ...(contract.cost !== undefined && { [EXTENSIONS.cost]: contract.cost }),
    request: {
      ...(contract.params !== undefined && { params: contract.params }),
      ...(contract.query !== undefined && { query: contract.query }),
      headers,
      ...(contract.body !== undefined && {
        body: { required: contract.bodyOptional !== true, content: json(contract.body) },
      }),
    },
    responses: {
      [contract.reply.status]: {
        description: 'Success',
        ...(contract.reply.versioned === true && { headers: z.object({ [VERSION_HEADER]: z.int().min(1) }) }),
        ...(contract.reply.body !== undefined && { content: json(contract.reply.body) }),
      },
      default: { description: 'Refusal or failure', content: json(errorReply) },
    },
  };
}
