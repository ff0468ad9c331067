import type { Contracts } from '@tocsin/http';
import { accountContracts } from '../accounts/http/contracts.ts';
import { auditContracts } from '../audit/http/contracts.ts';
import { erasureContracts } from '../erasure/http/contracts.ts';
import { idempotencyKeyContracts } from '../idempotency-keys/http/contracts.ts';
import { sessionContracts } from '../sign-in/http/contracts.ts';

/** The gateway's own API, in the order of its description. */
export const contracts = {
  ...accountContracts,
  ...erasureContracts,
  ...sessionContracts,
  ...auditContracts,
  ...idempotencyKeyContracts,
} as const satisfies Contracts;
