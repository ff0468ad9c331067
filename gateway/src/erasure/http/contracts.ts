import { boundedText, dataPlace, instant } from '@tocsin/schemas';
import { type Contracts, endpoint, type Handlers, pageQuery, pagination, pathId, schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { MAX_EMAIL_LENGTH } from '../../accounts/domain/checks.ts';

const moment = instant.nullable();
const place = z.strictObject(dataPlace.shape).meta({ id: 'PersonalDataPlace' });

/** How far the erasure of a user has come (contract: Erasing a user). */
const erasure = z
  .strictObject({
    user_id: z.int().min(1).meta({ description: 'ID of the user' }),
    requested_at: moment.meta({ description: 'When it was requested; null: it was not' }),
    completed_at: moment.meta({ description: 'When all services had erased the user; null: not yet' }),
    remaining: z.array(z.string()).meta({ description: 'The services that have not erased the user yet, in order' }),
    places: z.array(place).meta({ description: 'Texts that name the user, as far as they are found: they stay' }),
    has_more_places: z.boolean().meta({ description: 'Whether there are more than the first 1,000' }),
  })
  .meta({ id: 'UserErasure' });

export type ErasureWire = z.infer<typeof erasure>;

const erasureReply = z.strictObject({ erasure: schemaReference(erasure, 'How far the erasure has come') });

const erasureRequest = z
  .strictObject({
    confirmation: boundedText(MAX_EMAIL_LENGTH).meta({ description: 'The email address of the user' }),
  })
  .meta({ id: 'UserErasureRequest' });

/** A row that has something of a user (contract: Erasing a user). */
const row = z
  .strictObject({
    service: z.string().meta({ description: 'The part of Tocsin that keeps it' }),
    table: z.string().meta({ description: 'The table that it is in' }),
    row: z.record(z.string(), z.unknown()).meta({ description: 'The row as it is stored, without secrets' }),
  })
  .meta({ id: 'PersonalData' });

const dataPage = z.strictObject({
  rows: z.array(row).meta({ description: 'The rows of the page, by service and table' }),
  pagination,
});
const dataQuery = z.strictObject({ cursor: pageQuery.cursor });

const userParams = z.strictObject({ id: pathId.meta({ description: 'ID of the user' }) });
const USER = '/api/v1/settings/users/{id}';
const spec = { tag: 'Deletion', needs: ['delete_permanently'], params: userParams } as const;

/** contract: Erasing a user */
export const erasureContracts = {
  exportUserData: {
    ...endpoint('GET', `${USER}/data`, 'Export what is kept about a user'),
    ...{ ...spec, scope: 'users:read' },
    query: dataQuery,
    cost: { base: 10 },
    reply: { status: 200, body: dataPage },
  },
  eraseUser: {
    ...endpoint('POST', `${USER}/erase`, 'Erase a user for good'),
    ...{ ...spec, scope: 'users:write' },
    errors: ['permission_denied', 'invalid_resource_state'],
    body: erasureRequest,
    reply: { status: 200, body: erasureReply },
  },
  getUserErasure: {
    ...endpoint('GET', `${USER}/erasure`, 'Get how far the erasure of a user has come'),
    ...{ ...spec, scope: 'users:read' },
    reply: { status: 200, body: erasureReply },
  },
} as const satisfies Contracts;

export type ErasureApi = Handlers<typeof erasureContracts>;
