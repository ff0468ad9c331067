import { type Contracts, DEFAULT_DEADLINE, endpoint, type Handlers } from '@tocsin/http';
import { IMPORT_DOCUMENT } from '../domain/item.ts';
import { exportLine, exportQuery, importBody, importReply } from './wire.ts';

/** contract: Import, Export */
export const transferContracts = {
  importIncidents: {
    ...endpoint('POST', '/api/v1/imports/incidents', 'Import incidents from another system'),
    tag: 'Import and export',
    scope: 'imports:write',
    needs: ['manage_settings'],
    deadline: 30_000,
    body: importBody,
    document: IMPORT_DOCUMENT,
    reply: { status: 200, body: importReply },
  },
  exportIncidents: {
    ...endpoint('GET', '/api/v1/exports/incidents', 'Export all incidents'),
    tag: 'Import and export',
    scope: 'incidents:read',
    needs: ['manage_settings'],
    cost: { base: 10 },
    query: exportQuery,
    // A stream holds no slot, and ends with its key.
    wait: DEFAULT_DEADLINE,
    deadline: 2 * DEFAULT_DEADLINE,
    lines: exportLine,
    reply: { status: 200 },
  },
} as const satisfies Contracts;

export type TransferApi = Handlers<typeof transferContracts>;
