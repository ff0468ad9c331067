import type { Documentation } from '@tocsin/http';
import type { erasureContracts, ErasureWire } from './contracts.ts';

const erasure: ErasureWire = {
  user_id: 2,
  requested_at: '2026-11-24T10:00:00.000Z',
  completed_at: null,
  remaining: ['incident', 'catalog', 'custom-field', 'webhook', 'gateway'],
  places: [],
  has_more_places: false,
};

/** contract: Erasing a user */
export const erasureOperations: Documentation<typeof erasureContracts> = {
  exportUserData: {
    description:
      'Returns the rows of all tables that have the user, or texts with the name or the address, as they are stored; their form may change with each release. A page may be short, or empty: only `has_more` tells whether there are more.',
    params: { id: 2 },
    reply: {
      rows: [{ service: 'gateway', table: 'users', row: { id: 2, email: 'ana@acme.example', name: 'Ana' } }],
      pagination: { limit: 25, has_more: false },
    },
  },
  eraseUser: {
    description:
      'Takes the name, the address and the accounts of a user from everywhere, for good: the user is `Former user 2` from then on, deactivated, without sessions and valid keys. What happened stays, and so do texts that people wrote: `places` of the erasure lists those that name the user. It can be repeated. `invalid_resource_state`: the last active owner.',
    params: { id: 2 },
    body: { confirmation: 'ana@acme.example' },
    reply: { erasure },
  },
  getUserErasure: {
    description: 'Returns how far the erasure has come; `requested_at` is null for a user who is not erased.',
    params: { id: 2 },
    reply: {
      erasure: {
        ...{ ...erasure, remaining: [], completed_at: '2026-11-24T10:00:02.000Z' },
        places: [{ kind: 'incident', id: '12', incident_id: null, property: 'title' }],
      },
    },
  },
};
