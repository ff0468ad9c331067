import { auditEntry, instant, timestampInput } from '@tocsin/schemas';
import { type Contracts, endpoint, type Handlers, pageQuery, pagination } from '@tocsin/http';
import { z } from 'zod';

const id = z.int().min(1);
const { action, target, before, after } = auditEntry.shape;

/** An actor of the filter: the ID of a user, or `operator`. */
const actor = z.string().regex(/^(?:[1-9]\d{0,14}|operator)$/, 'Must be the ID of a user, or `operator`');

const auditQuery = z.strictObject({
  ...pageQuery,
  actor: actor.optional().meta({ description: 'Changes by the user with this ID, or by operators: `operator`' }),
  action: action.optional().meta({ description: 'Changes of this kind, such as `webhook.created`' }),
  occurred_from: timestampInput.optional().meta({ description: 'Changes at this time or later' }),
  occurred_to: timestampInput.optional().meta({ description: 'Changes before this time' }),
});

const entry = z
  .strictObject({
    id: id.meta({ description: 'Identifies the entry' }),
    occurred_at: instant.meta({ description: 'When the change was made' }),
    actor: z
      .strictObject({
        type: auditEntry.shape.actor.shape.type,
        user_id: id.nullable().meta({ description: 'ID of the user; null for an operator' }),
        api_key_prefix: z
          .string()
          .nullable()
          .meta({ description: 'The first characters of the API key; null for an operator' }),
      })
      .meta({ description: 'Who made the change' }),
    action,
    target: z.strictObject(target.shape).meta({ description: 'What was changed' }),
    before,
    after,
  })
  .meta({ id: 'AuditEntry' });

export type AuditEntryWire = z.infer<typeof entry>;

const auditPage = z.strictObject({
  entries: z.array(entry).meta({ description: 'The entries of the page, the newest first' }),
  pagination,
});

/** contract: Audit log */
export const auditContracts = {
  listAuditLog: {
    ...endpoint('GET', '/api/v1/settings/audit-log', 'List changes of settings'),
    tag: 'Audit log',
    scope: 'configuration:read',
    needs: ['manage_settings'],
    query: auditQuery,
    cost: { base: 2 },
    reply: { status: 200, body: auditPage },
  },
} as const satisfies Contracts;

export type AuditApi = Handlers<typeof auditContracts>;
