import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { id } from '../../incidents/domain/property-kinds.ts';
import { changedIncident, incidentPatch } from '../../incidents/http/wire.ts';

export const MAX_ITEMS = 50;
const VERBS = ['resolve', 'close', 'reopen', 'archive', 'restore'] as const;

const incidentId = id.meta({ description: 'ID of the incident' });
const revision = id.optional();

const changes = schemaReference(incidentPatch, 'What a PATCH of the incident would have as its body');

const changeItem = z
  .strictObject({
    id: incidentId,
    revision: revision.meta({ description: 'The revision that the changes are based on: required, as for a PATCH' }),
    changes,
  })
  .meta({ id: 'BulkChange' });

export const verbItem = z
  .strictObject({
    id: incidentId,
    verb: z.enum(VERBS).meta({ description: 'The lifecycle operation, without a note' }),
    revision: revision.meta({ description: 'The revision that it is based on; default: any' }),
  })
  .meta({ id: 'BulkVerb' });

/** The body of a change is checked by itself, so that its errors are those of a PATCH. */
export const looseChangeItem = changeItem.extend({ changes: z.record(z.string(), z.unknown()) });

/** An item that does not match is refused by itself, so the body accepts anything. The first schema decides. */
const anyItem = z.union([
  z.unknown().meta({ description: 'Anything else is refused by itself' }),
  changeItem,
  verbItem,
]);

export const bulkBody = z
  .strictObject({
    items: z
      .array(anyItem)
      .min(1)
      .max(MAX_ITEMS)
      .meta({ description: 'What to do, in this order; each incident occurs at most twice' }),
  })
  .meta({ id: 'BulkRequest' });

const itemError = z
  .strictObject({
    code: z.string().meta({ description: 'A stable code' }),
    message: z.string().meta({ description: 'For people' }),
    field: z.string().optional().meta({ description: 'What is invalid in the single request; absent if nothing is' }),
    details: z.record(z.string(), z.unknown()).optional().meta({ description: 'Values that a program can use' }),
    request_id: z.string().meta({ description: 'ID of the request' }),
  })
  .meta({ id: 'BulkError' });

const result = z
  .strictObject({
    index: z.int().min(0).meta({ description: 'The place of the item in the request, from 0' }),
    status: z.int().meta({ description: 'The status of the response to the single request' }),
    incident: changedIncident.optional(),
    error: schemaReference(itemError, 'The error of the single request; absent unless it was refused').optional(),
  })
  .meta({ id: 'BulkResult' });
export type BulkResult = z.infer<typeof result>;

export const bulkReply = z.strictObject({
  results: z.array(result).meta({ description: 'What became of each item, in the order of the request' }),
});
