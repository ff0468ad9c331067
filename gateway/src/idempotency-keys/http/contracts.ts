import { instant, SCOPES } from '@tocsin/schemas';
import { type Contracts, endpoint, type Handlers, schemaReference } from '@tocsin/http';
import { z } from 'zod';

const key = z.string().regex(/^[!-~]{1,128}$/, 'Must have 1 to 128 characters from ! to ~');

const idempotencyKeyParams = z.strictObject({
  key: key.meta({ description: 'An Idempotency-Key of the caller' }),
});

const idempotencyKeyLookup = z.strictObject({
  operation: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({ description: 'Only if this operation used it, such as `createIncident`; default: the latest of all' }),
});

const idempotencyKey = z
  .strictObject({
    key: key.meta({ description: 'The key' }),
    state: z.enum(['in_progress', 'completed']).meta({ description: 'Whether the request with the key has ended' }),
    operation: z.string().meta({ description: 'The operation that used the key' }),
    status: z
      .int()
      .nullable()
      .meta({ description: 'The status of the response; null while the request is in progress' }),
    resource_path: z.string().nullable().meta({
      description: 'The path of what was created; null while the request is in progress, and for a refusal',
    }),
    created_at: instant.meta({ description: 'When the key was first used' }),
    expires_at: instant.meta({ description: 'When the key is forgotten' }),
  })
  .meta({ id: 'IdempotencyKey' });

const idempotencyKeyReply = z.strictObject({
  idempotency_key: schemaReference(idempotencyKey, 'What has become of the key'),
});

/** contract: Idempotency */
export const idempotencyKeyContracts = {
  getIdempotencyKey: {
    ...endpoint('GET', '/api/v1/idempotency-keys/{key}', 'Look up an idempotency key'),
    tag: 'Idempotency keys',
    scope: SCOPES,
    errors: ['idempotency_outcome_unknown'],
    params: idempotencyKeyParams,
    query: idempotencyKeyLookup,
    cost: { base: 2 },
    reply: { status: 200, body: idempotencyKeyReply },
  },
} as const satisfies Contracts;

export type IdempotencyKeyApi = Handlers<typeof idempotencyKeyContracts>;
