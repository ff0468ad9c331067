import { z } from 'zod';

/** A moment: RFC 3339, UTC, three decimals. */
export const instant = z.iso.datetime({ precision: 3 });

const id = z.int().min(1);

/** Whose event it is. `is_demo` workspaces send no webhooks. */
export const eventWorkspace = z.object({ id, slug: z.string(), is_demo: z.boolean() });

/**
 * What every message on the exchange looks like (contract: Events on the broker). `id` is also the AMQP message ID, and
 * `type` the routing key; consumers deduplicate by `id` and ignore members that they do not know.
 */
export const envelope = z.object({
  id: z.uuid(),
  type: z.string().min(1),
  schema_version: z.literal(1),
  occurred_at: instant,
  workspace: eventWorkspace,
  request_id: z.string().nullable(),
  data: z.unknown(),
});

export type Envelope<Data = unknown> = Omit<z.infer<typeof envelope>, 'data'> & { data: Data };
export type EventWorkspace = z.infer<typeof eventWorkspace>;
