import type { Documentation } from '@tocsin/http';
import { accountOperations } from '../accounts/http/documentation.ts';
import { auditOperations } from '../audit/http/documentation.ts';
import { erasureOperations } from '../erasure/http/documentation.ts';
import { idempotencyKeyOperations } from '../idempotency-keys/http/documentation.ts';
import { sessionOperations } from '../sign-in/http/documentation.ts';
import type { contracts } from './contracts.ts';

/** Descriptions and examples of the gateway's own operations, for the API description. */
export const documentation: Documentation<typeof contracts> = {
  ...accountOperations,
  ...erasureOperations,
  ...sessionOperations,
  ...auditOperations,
  ...idempotencyKeyOperations,
};
