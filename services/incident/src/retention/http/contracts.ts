import { instant } from '@tocsin/schemas';
import { type Contracts, endpoint, type Handlers, schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { MAX_ANNOUNCED } from '../announced.ts';
import { RETENTION_KINDS } from '../domain/retention.ts';

const PATH = '/api/v1/settings/retention';
const MAX_DAYS = 36_500;
/** Also the time for which a deletion of incidents is announced. */
const MIN_DAYS = 30;

const WHAT = {
  archived_incidents: 'Incidents, since they were archived; deleted with all that belongs to them',
  audit_log: 'Entries of the audit log',
  access_log: 'Who has read restricted incidents',
  alert_records: 'Records of notifications; of each key, at most the latest 5,000 are kept',
} as const;

const ofKinds = <Value extends z.ZodType>(value: (description: string) => Value) =>
  Object.fromEntries(RETENTION_KINDS.map((kind) => [kind, value(WHAT[kind])])) as Record<
    (typeof RETENTION_KINDS)[number],
    Value
  >;

const days = z.int().min(MIN_DAYS).max(MAX_DAYS).nullable();

const retention = z
  .strictObject({
    revision: z.int().min(1).meta({ description: 'Starts at 1 and increases with every change; a PUT must send it' }),
    days: z
      .strictObject(ofKinds((description) => days.meta({ description: `${description}; null: for ever` })))
      .meta({ description: 'How long what is kept' }),
    starts_at: z
      .strictObject(ofKinds((description) => instant.nullable().meta({ description: `${description}; null: never` })))
      .meta({ description: 'From when on what is older is deleted: 30 days after a period was set or shortened' }),
    announced: z
      .strictObject({
        count: z.int().min(0).max(MAX_ANNOUNCED).meta({ description: 'How many; at most 10,000 are counted' }),
        first_at: instant.nullable().meta({ description: 'When the first of them is deleted; null: none is' }),
      })
      .meta({ description: 'The archived incidents, as far as the caller sees them, that the next 30 days delete' }),
  })
  .meta({ id: 'Retention' });

const reply = {
  status: 200,
  body: z.strictObject({ retention: schemaReference(retention, 'The retention as it is after the request') }),
  versioned: true,
} as const;
/** They depend on the time of the request. */
const assigned = [
  ...RETENTION_KINDS.map((kind) => `retention.starts_at.${kind}` as const),
  'retention.announced.first_at',
] as const;

/** contract: Retention */
export const retentionContracts = {
  getRetention: {
    ...endpoint('GET', PATH, 'Get the retention'),
    ...{ tag: 'Deletion', scope: 'configuration:read', reply },
  },
  replaceRetention: {
    ...endpoint('PUT', PATH, 'Replace the retention'),
    ...{ tag: 'Deletion', scope: 'configuration:write' },
    needs: ['delete_permanently'],
    precondition: true,
    body: z
      .strictObject({
        days: z
          .strictObject(
            ofKinds((description) =>
              days.optional().meta({ description: `${description}; days, null: for ever; left out: as it is` }),
            ),
          )
          .meta({ description: 'How long what is kept' }),
      })
      .meta({ id: 'NewRetention' }),
    reply: { ...reply, assigned },
  },
} as const satisfies Contracts;

export type RetentionApi = Handlers<typeof retentionContracts>;
