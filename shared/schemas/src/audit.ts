import { z } from 'zod';

const id = z.int().min(1);

/** The state of what was changed, as the API shows it, without secrets. */
const state = z.record(z.string(), z.unknown()).nullable();

/** A change of the settings of a workspace (contract: Audit log). */
export const auditEntry = z.object({
  actor: z.object({
    type: z
      .enum(['user', 'operator'])
      .meta({ description: '`operator`: a person with access to the server, by an administration command' }),
    user_id: id.nullable().meta({ description: 'ID of the user; null for an operator' }),
    key_id: id.nullable().meta({ description: 'ID of the API key of the request; null for an operator' }),
  }),
  action: z
    .string()
    .regex(/^[a-z_]+\.[a-z_]+$/)
    .meta({ description: 'What was done: the kind of what was changed, and a verb' }),
  target: z.object({
    type: z.string().meta({ description: 'The kind of what was changed' }),
    id: z.string().meta({ description: 'Its ID' }),
  }),
  before: state.meta({ description: 'How it was before; null: it did not exist' }),
  after: state.meta({ description: 'How it is now; null: it does not exist any longer' }),
});

export type AuditEntry = z.infer<typeof auditEntry>;
