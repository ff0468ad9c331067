import { type Contracts, DEFAULT_DEADLINE, endpoint, type Handlers } from '@tocsin/http';
import { IMPORT_DOCUMENT } from '../domain/item.ts';
import { PICTURE_COST, PICTURE_UPLOAD } from '../../pictures/http/contracts.ts';
import { exportLine, exportQuery, importBody, importPictureQuery, importPictureReply, importReply } from './wire.ts';

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
  importPicture: {
    ...endpoint('POST', '/api/v1/imports/pictures', 'Import a picture of a timeline event'),
    tag: 'Import and export',
    scope: 'imports:write',
    needs: ['manage_settings'],
    query: importPictureQuery,
    upload: PICTURE_UPLOAD,
    errors: ['invalid_resource_state'],
    ...PICTURE_COST,
    reply: { status: 200, body: importPictureReply, assigned: ['id'] },
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
