import { type Contracts, endpoint, type Handlers } from '@tocsin/http';
import { create, INCIDENTS } from '../../incidents/http/contracts.ts';
import { bulkBody, bulkReply, MAX_ITEMS } from './wire.ts';

/** contract: Bulk */
export const bulkContracts = {
  bulkIncidents: {
    ...endpoint('POST', `${INCIDENTS}/bulk`, 'Change several incidents'),
    tag: 'Incidents',
    ...create,
    deadline: 30_000,
    idempotent: true,
    body: bulkBody,
    document: { items: { of: 'items', max: MAX_ITEMS } },
    reply: { status: 200, body: bulkReply },
  },
} as const satisfies Contracts;

export type BulkApi = Handlers<typeof bulkContracts>;
