import type { Documentation } from '@tocsin/http';
import type { idempotencyKeyContracts } from './contracts.ts';

/** contract: Idempotency */
export const idempotencyKeyOperations: Documentation<typeof idempotencyKeyContracts> = {
  getIdempotencyKey: {
    description:
      'Tells what a create with this Idempotency-Key of the caller has done, for a client that did not get its response. 404: no create of the last 24 hours used it, so it can be used.',
    params: { key: 'sample-data:payments' },
    reply: {
      idempotency_key: {
        key: 'sample-data:payments',
        state: 'completed',
        operation: 'createTeam',
        status: 201,
        resource_path: '/api/v1/teams/1',
        created_at: '2026-11-24T10:00:00.000Z',
        expires_at: '2026-11-25T10:00:00.000Z',
      },
    },
  },
};
