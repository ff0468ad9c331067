import type { Documentation } from '@tocsin/http';
import type { auditContracts } from './contracts.ts';

/** contract: Audit log */
export const auditOperations: Documentation<typeof auditContracts> = {
  listAuditLog: {
    description:
      'Returns who changed users, API keys, the configuration and webhooks, the newest first. Secrets and tokens are never in it. A change is in it within a second.',
    reply: {
      entries: [
        {
          id: 12,
          occurred_at: '2026-11-24T10:00:00.000Z',
          actor: { type: 'user', user_id: 1, api_key_prefix: 'tcs_7Jq2' },
          action: 'user.created',
          target: { type: 'user', id: '2' },
          before: null,
          after: { email: 'ana@acme.example', name: 'Ana', role: 'manager', seat: 'responder', active: true },
        },
      ],
      pagination: { limit: 50, has_more: false },
    },
  },
};
